//! What only the owner of the project knows is in `owner.toml`, and every file that repeats it says
//! the same. `scripts/owner check` refuses a release while a placeholder is left.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const KEYS: [&str; 4] = ["repository", "homepage", "documentation", "contact"];

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines `key = value` of a table of a TOML file. The one before the first header has no name.
fn table(text: &str, name: &str) -> BTreeMap<String, String> {
    let mut here = "";
    let mut found = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[') {
            here = header.trim_end_matches(']');
        } else if let Some((key, value)) = line.split_once('=').filter(|_| here == name) {
            found.insert(key.trim().trim_matches('"').to_owned(), value.trim().to_owned());
        }
    }
    found
}

#[test]
fn addresses_are_those_of_the_owners_file() {
    let owner = read("owner.toml");
    let values = table(&owner, "");
    assert_eq!(values.keys().map(String::as_str).collect::<Vec<_>>(), {
        let mut keys = KEYS;
        keys.sort_unstable();
        keys
    });
    let files = table(&owner, "files");
    assert!(files.len() >= 4, "owner.toml lists the files that repeat its values");
    for (name, keys) in files {
        let text = read(&name);
        let keys: Vec<_> = keys.split('"').filter(|key| KEYS.contains(key)).collect();
        assert!(!keys.is_empty(), "owner.toml: `{name}` has no key of {KEYS:?}");
        for key in keys {
            let value = values[key].trim_matches('"');
            assert!(text.contains(value), "{name}: expected the {key} of owner.toml, {value}");
        }
    }
}

#[test]
fn published_packages_take_addresses_and_authors_from_the_workspace() {
    let shared = table(&read("Cargo.toml"), "workspace.package");
    if shared.is_empty() {
        return; // in a published package, cargo has written the values in their place
    }
    assert_eq!(shared["authors"], "[\"the eventhorizon developers\"]");
    for manifest in ["Cargo.toml", "cli/Cargo.toml"] {
        let package = table(&read(manifest), "package");
        for key in ["authors", "repository", "homepage", "documentation"] {
            let inherited = package.get(&format!("{key}.workspace"));
            assert_eq!(inherited.map(String::as_str), Some("true"), "{manifest}: `{key}.workspace = true`");
        }
    }
}

/// Addresses of the project are in no page: pages of the site have names in double braces instead,
/// and other pages link to files.
#[test]
fn no_page_has_an_address_of_its_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut waiting: Vec<_> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "site"].map(|it| root.join(it)).into();
    let mut count = 0;
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| it == "md" || it == "toml" || it == "html") {
            let text = fs::read_to_string(&path).unwrap();
            for address in
                ["github.com/", "gitlab.com/", "docs.rs/eventhorizon", "crates.io/crates/eventhorizon"]
            {
                assert!(!text.contains(address), "{}: {address}: write what owner.toml has", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 10, "{count} pages were read");
}

/// The site shows every page of docs/.
#[test]
fn guides_are_in_the_menu_of_the_site() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !root.join("site").exists() {
        return; // not in the package
    }
    let menu = read("site/zensical.toml");
    assert!(menu.contains("{{homepage}}") && menu.contains("{{repository}}"));
    for entry in fs::read_dir(root.join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_shown = menu.contains(&format!("\"guides/{name}\""));
        assert!(is_shown || !name.ends_with(".md"), "site/zensical.toml: its nav lacks guides/{name}");
    }
}

/// The targets of links and pictures in a page.
pub(crate) fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// Registries have the page without the files: `scripts/owner readme` needs paths from the root.
#[test]
fn links_of_the_first_pages_lead_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    for page in ["README.md", "CONTRIBUTING.md", "SECURITY.md"] {
        let text = read(page);
        for target in links(&text) {
            count += 1;
            // A package's README has addresses, which `scripts/owner readme` wrote.
            if target.contains("://") || target.starts_with('#') {
                continue;
            }
            let file = target.split('#').next().unwrap_or_default();
            // Measurements and the site's pages stay in the repository.
            let stays = ["notes", "site"].into_iter().find(|folder| file.starts_with(&format!("{folder}/")));
            let is_packaged = stays.is_none_or(|folder| root.join(folder).exists());
            assert!(!is_packaged || root.join(file).exists(), "{page}: {target} does not exist");
        }
    }
    assert!(count > 20, "{count} links were found");
}
