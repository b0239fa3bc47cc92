//! Lists the WGSL files of the folder `shaders/` for `src/shaders.rs`.

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
    fs::write(out.join("shaders.rs"), list)
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
