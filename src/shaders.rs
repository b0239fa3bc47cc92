//! The WGSL files of the library: the folder `shaders/`, by path.

use crate::gpu::Source;

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        const FILES: &[(&str, &str)] = &[$(($path, include_str!(concat!("../shaders/", $path)))),*];
    };
}

files! {
    "random/distributions.wgsl",
    "random/mul_wide.wgsl",
    "random/mul_wide_int64.wgsl",
    "random/philox.wgsl",
    "random/stream.wgsl",
    "time/ticks.wgsl",
}

/// The file at `path`, relative to `shaders/`; errors in it are reported as `shaders/PATH`.
pub(crate) fn find(path: &str) -> Option<Source> {
    let (_, text) = FILES.iter().find(|(name, _)| *name == path)?;
    Some(Source::new(format!("shaders/{path}"), *text))
}

/// The file at `path`, which the library itself names: absent only if the list above is out of date.
pub(crate) fn file(path: &str) -> Source {
    find(path).unwrap_or_else(|| panic!("shaders/{path} is not in the list of src/shaders.rs"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_list_is_the_folder() {
        fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
                }
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
        let mut found = Vec::new();
        walk(&root, &root, &mut found);
        let mut listed: Vec<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        found.sort();
        listed.sort();
        assert_eq!(listed, found);
    }
}
