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
    let refused = run("papers", &["passerat-8", "--small", "--continue", "--out", out.to_str().unwrap()]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && message.contains("leave out --continue"), "{message}");
    assert_eq!(std::fs::read_to_string(folder.at("passerat-8.csv")).unwrap(), "a,b\n1,2\n");
}
