//! `region_matching`, which is the command `match`: positions from files.

use crate::ended::ended;
use crate::folder::Folder;
use crate::run;

/// The number of pairs, and the pairs written to a file.
fn matched(folder: &Folder, args: &[&str]) -> (u64, Vec<String>) {
    let pairs = folder.file("pairs.csv", "");
    let output = run("match", &[args, &["--count", "--pairs", &pairs, "--json"]].concat());
    assert!(output.status.success(), "{args:?}: {output:?}");
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let written = std::fs::read_to_string(pairs).unwrap();
    let mut pairs: Vec<String> = written.lines().map(str::to_owned).collect();
    pairs.sort();
    (printed["pairs"].as_u64().unwrap(), pairs)
}

#[test]
fn decimals_that_touch_do_not_overlap() {
    let folder = Folder::new("decimals");
    let each_with_itself = (2, vec!["0,0".to_owned(), "1,1".to_owned()]);
    let cases = [
        ("2.3\n1.2\n", "1.1"),
        ("516.91,852.39\n511.91,853.01\n", "5"),
        // The same with a byte-order mark, as some editors write it, and in other notations.
        ("\u{feff}2.3\n1.2\n", "1.1"),
        ("23e-1\n+0001.20\n", "11E-1"),
        ("2.300000000000000000000000000000001\n1.200000000000000000000000000000001\n", "1.1"),
    ];
    for backend in ["cpu", "gpu"] {
        let matched = |text: &str, width| {
            let positions = folder.file("positions.csv", text);
            matched(&folder, &["--positions", &positions, "--width", width, "--backend", backend])
        };
        for (text, width) in cases {
            assert_eq!(matched(text, width), each_with_itself, "{backend}: {text}");
        }
        assert_eq!(matched("2.3\n1.2\n", "1.1000000000000000000001").0, 4, "{backend}");
    }
}

#[test]
fn backends_find_the_same_pairs() {
    let folder = Folder::new("backends");
    for dims in ["1", "2", "3", "4"] {
        let args = ["--regions", "3000", "--alpha", "30", "--dims", dims, "--backend"];
        let [cpu, gpu] = ["cpu", "gpu"].map(|backend| matched(&folder, &[&args[..], &[backend]].concat()));
        assert!(cpu.0 > 1000 && cpu.0 == cpu.1.len() as u64, "{dims}: {}", cpu.0);
        assert!(cpu == gpu, "{dims} dimensions: {} and {} pairs", cpu.0, gpu.0);
    }
    let refused = run("match", &["--backend", "cpu", "--algorithm", "sort"]);
    ended(&refused, 2, &["--algorithm needs --backend gpu"], "an algorithm on the CPU");
    let refused = run("match", &["--backend", "cpu", "--regions", "4294967295"]);
    ended(&refused, 2, &["a set holds at most 1073741824"], "too many regions on the CPU");
}

#[test]
fn bad_files_of_positions_are_errors_of_what_was_asked_for() {
    let folder = Folder::new("bad-positions");
    let refused: [(&[u8], &str, &[&str]); 7] = [
        (b"1,2\nx,y\n", "1", &["positions.csv:2: 'x' is not a number"]),
        (b"1,2\n\n3\n", "1", &["positions.csv:3: expected 1 to 4 columns", "first line (2), found 1"]),
        (b"1,2,3,4,5\n", "1", &["positions.csv:1: expected 1 to 4 columns", "found 5"]),
        (b"inf\n", "1", &["positions.csv:1: 'inf' is not a number"]),
        (b"1\n\xff\n", "1", &["positions.csv", "UTF-8"]),
        (b"\n", "1", &["positions.csv contains no position"]),
        (b"5\n1e30\n", "1e-20", &["positions.csv:2: ", "1e30 in dimension 0 has more than 36 digits"]),
    ];
    for (bytes, width, words) in refused {
        let positions = folder.file("positions.csv", bytes);
        let args = ["--positions", &positions, "--width", width];
        ended(&run("match", &args), 2, words, &String::from_utf8_lossy(bytes));
    }
    for width in ["0", "-1", "inf", "x"] {
        let output = run("match", &["--positions", "none.csv", &format!("--width={width}")]);
        ended(&output, 2, &["--width"], width);
    }
}
