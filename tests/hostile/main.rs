//! Random damage to files in the repository. The readers are those of `fuzz/`.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;

#[path = "../common/hostile.rs"]
mod bodies;

/// Damage to bytes by a disk, a transfer, an editor or an attacker.
#[derive(Debug, Clone)]
struct Damage {
    way: u32,
    places: [Index; 3],
    byte: u8,
    number: u64,
}

fn damage() -> impl Strategy<Value = Damage> {
    let places = [any::<Index>(), any::<Index>(), any::<Index>()];
    (0..7_u32, places, any::<u8>(), any::<u64>()).prop_map(|(way, places, byte, number)| Damage {
        way,
        places,
        byte,
        number,
    })
}

impl Damage {
    fn done_to(&self, mut bytes: Vec<u8>, other: &[u8]) -> Vec<u8> {
        if bytes.is_empty() || other.is_empty() {
            return bytes;
        }
        let [a, b, c] = self.places.map(|place| place.index(bytes.len()));
        let (first, last) = (b.min(c), b.max(c));
        match self.way {
            0 => bytes[a] = self.byte,
            1 => bytes.truncate(a),
            2 => drop(bytes.drain(first..last)),
            3 => {
                let copied = bytes[first..last].to_vec();
                bytes.splice(a..a, copied);
            }
            4 => {
                let [from, to] = [b, c].map(|place| place % other.len());
                bytes.splice(a..a, other[from.min(to)..from.max(to)].iter().copied());
            }
            // Replaces the next number.
            5 => {
                if let Some(begin) = bytes[a..].iter().position(u8::is_ascii_digit).map(|place| a + place) {
                    let end = bytes[begin..].iter().position(|byte| !byte.is_ascii_digit());
                    let end = end.map_or(bytes.len(), |end| begin + end);
                    let number = (self.number >> (self.byte % 64)).to_string();
                    bytes.splice(begin..end, number.into_bytes());
                }
            }
            _ => {
                let number = (self.number >> (self.byte % 64)).to_le_bytes();
                let place = a & !7;
                bytes.iter_mut().skip(place).zip(number).for_each(|(byte, number)| *byte = number);
            }
        }
        bytes
    }
}

/// The files of a folder with these endings, and nothing of other kinds.
fn files(folders: &[&str], endings: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries =
            std::fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        paths.extend(entries.map(|entry| entry.unwrap().path()));
    }
    paths.retain(|path| path.extension().is_some_and(|ending| endings.iter().any(|&known| ending == known)));
    paths.sort();
    let files: Vec<_> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(!files.is_empty(), "{folders:?}");
    files
}

/// Passes 1,024 files (more with PROPTEST_CASES=...) to a reader, each damaged in one to four ways.
fn gives(files: &[Vec<u8>], reader: fn(&[u8])) {
    files.iter().for_each(|file| reader(file));
    let config = ProptestConfig::default();
    let config = ProptestConfig { failure_persistence: None, cases: 4 * config.cases, ..config };
    let which = (any::<Index>(), any::<Index>(), prop::collection::vec(damage(), 1..5));
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let ended = runner.run(&which, |(file, other, damages)| {
        let other = other.get(files);
        reader(&damages.iter().fold(file.get(files).clone(), |bytes, damage| damage.done_to(bytes, other)));
        Ok(())
    });
    ended.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn checkpoints() {
    gives(&[bodies::saved(), bodies::saved_study()], bodies::checkpoint);
}

#[test]
fn the_linker() {
    gives(&files(&["shaders/models", "tests/wgsl", "tests/data/hostile/linker"], &["wgsl"]), bodies::linker);
}

#[test]
fn networks() {
    gives(&files(&["examples/networks"], &["toml"]), bodies::network);
}

#[test]
fn processes() {
    gives(&files(&["examples/processes"], &["toml"]), bodies::process);
}

#[test]
fn maps_and_graphs() {
    let folders = ["tests/data/movingai", "tests/data/hostile/map"];
    gives(&files(&folders, &["map", "scen", "gr", "co"]), bodies::map);
}

#[test]
fn tables() {
    gives(&files(&["tests/data/hostile/table"], &["csv"]), bodies::table);
}
