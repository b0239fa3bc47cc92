//! The examples that teach: each is short, ends well and prints what its head promises. `cargo
//! test` builds them; alone, this file needs `cargo build --examples` first.

use std::process::{Command, Stdio};

/// Words in the output of each example. They do not depend on the device.
const EXAMPLES: [(&str, &[&str]); 7] = [
    ("embedding", &["frame 10: ", "events were executed"]),
    ("federation", &["hour 5:   ship 0 -> stations [1, 2]   ship 1 -> stations [2]"]),
    ("first_queue", &["time_in_queue  3.9932 ± 0.0280, theory 3.9900", "time_in_system 4.9936"]),
    ("hybrid", &["34587 jobs were done", "fingerprint 21c595680f29b39b"]),
    ("queueing_network", &["a small clinic: 64 replications", "the doctor is busy 38.6 % of the time"]),
    ("shortest_paths", &["of 1000 searches found a path", "the longest goes from"]),
    ("stations", &["stations were busy 73.56 % of the day; theory says 73.51 %"]),
];

#[test]
fn each_example_prints_what_it_promises() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, EXAMPLES.map(|(name, _)| name), "each example is in the list");

    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    for (name, words) in EXAMPLES {
        let text = std::fs::read_to_string(format!("{folder}/{name}.rs")).unwrap();
        assert!(text.lines().count() <= 120, "{name} has more than 120 lines");
        let path = built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        assert!(path.exists(), "{} is missing: run `cargo build --examples`", path.display());
        let output = Command::new(path).env_remove("RUST_LOG").stdin(Stdio::null()).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{name}: {output:?}");
        for word in words {
            assert!(printed.contains(word), "{name}: expected `{word}`, found\n{printed}");
        }
    }
}
