//! `papers`: what a stopped experiment measured is kept by `--continue`.

use crate::folder::Folder;
use crate::run;

fn passerat_8(folder: &Folder, more: &[&str]) -> Vec<String> {
    let out = folder.at("");
    let output = run("papers", &[&["passerat-8", "--small", "--out", out.to_str().unwrap()], more].concat());
    assert!(output.status.success(), "{output:?}");
    let csv = std::fs::read_to_string(folder.at("passerat-8.csv")).unwrap();
    csv.lines().map(str::to_owned).collect()
}

#[test]
fn a_continued_experiment_keeps_what_was_measured() {
    let folder = Folder::new("papers");
    let all = passerat_8(&folder, &[]);
    let (head, first) = (&all[0], &all[1]);
    // The first row has a value that no run measures, and the last one is not complete.
    // (The name of the line contains a comma.)
    let mut fields: Vec<_> = first.split(',').collect();
    fields[4] = "12345678";
    let kept = fields.join(",");
    folder.file("passerat-8.csv", format!("{head}\n{kept}\n{}", &all[2][..all[2].len() / 2]));
    let continued = passerat_8(&folder, &["--continue"]);
    assert_eq!(continued[1], kept);
    assert_eq!(continued[2..], all[2..]);

    folder.file("passerat-8.csv", "a,b\n1,2\n");
    let out = folder.at("");
    let refused = |options: &[&str], words: &str| {
        let before = std::fs::read_to_string(folder.at("passerat-8.csv")).unwrap();
        let all = [&["passerat-8", "--continue", "--out", out.to_str().unwrap()], options].concat();
        let output = run("papers", &all);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(words), "{message}");
        assert!(message.contains("name another folder by --out, or leave out --continue"), "{message}");
        assert_eq!(std::fs::read_to_string(folder.at("passerat-8.csv")).unwrap(), before);
    };
    refused(&["--small"], "its columns are not those that this version of passerat-8 writes");

    // Of another run.
    folder.file("passerat-8.csv", all.join("\n") + "\n");
    refused(&[], "it was measured with --small yes, and now --small is no");
    refused(
        &["--small", "--seconds", "0.5"],
        "it was measured with --seconds 0.02, and now --seconds is 0.5",
    );
    let version = env!("CARGO_PKG_VERSION");
    let older: Vec<_> = all.iter().map(|row| row.replace(&format!(",{version}"), ",0.0.1")).collect();
    folder.file("passerat-8.csv", older.join("\n") + "\n");
    refused(&["--small"], &format!("it was measured with version 0.0.1, and now version is {version}"));
}
