//! Lists the WGSL files of the folder `shaders/` for `src/shaders.rs`, and makes the pages of `docs/`
//! part of rustdoc for `src/guide.rs`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=shaders");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("shaders");
    let mut paths = Vec::new();
    find(&root, "", &mut paths)?;
    paths.sort();
    let mut list = "const FILES: &[(&str, &str, &str)] = &[\n".to_owned();
    for path in paths {
        let name = format!("shaders/{path}");
        let file = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?})", format!("/{name}"));
        writeln!(list, "    ({path:?}, {name:?}, include_str!({file})),").expect("a string takes all");
    }
    list += "];\n";
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("shaders.rs"), list)?;
    guides(&out)
}

/// Copies the pages of `docs/` with links between them turned into links of rustdoc, and links to
/// other files into plain text.
fn guides(out: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed=docs");
    let folder = out.join("guide");
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir("docs")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_name().expect("it has an extension");
            fs::write(folder.join(name), linked(&fs::read_to_string(&path)?))?;
        }
    }
    Ok(())
}

fn linked(page: &str) -> String {
    let mut pieces = page.split("](");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (target, rest) = piece.split_once(')').unwrap_or((piece, ""));
        let (file, place) = target.split_once('#').unwrap_or((target, ""));
        match file.strip_suffix(".md").filter(|page| !page.contains('/')) {
            Some(page) => {
                let module = page.strip_prefix("guide-").unwrap_or(page);
                let place = if place.is_empty() { String::new() } else { format!("#{place}") };
                text += &format!("](crate::guide::{module}{place}){rest}");
            }
            None if file.contains("://") => text += &format!("]({target}){rest}"),
            None => {
                // The text of the link stays, without its brackets.
                let begin = text.rfind('[').unwrap_or(text.len());
                let words = text.split_off(begin);
                text =
                    text.strip_suffix('!').unwrap_or(&text).to_owned() + words.trim_start_matches('[') + rest;
            }
        }
    }
    text
}

/// Adds the paths of the WGSL files in a folder. `prefix` is the folder's path, with `/` on every
/// system.
fn find(folder: &Path, prefix: &str, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| io::Error::other(format!("{name:?} is not UTF-8")))?;
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            find(&entry.path(), &format!("{path}/"), paths)?;
        } else if name.ends_with(".wgsl") {
            paths.push(path);
        }
    }
    Ok(())
}
