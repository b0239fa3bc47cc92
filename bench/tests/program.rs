//! The benchmarks from the outside: their help, their refusals, and small runs.

#[path = "../../cli/tests/programs/ended.rs"]
mod ended;

use std::io::pipe;
use std::process::{Command, Output, Stdio};

use ended::ended;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eventhorizon-bench"));
    command.env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

fn run(name: &str, args: &[&str]) -> Output {
    program().arg(name).args(args).output().unwrap()
}

/// Each file of the program is a benchmark, except the one that names them.
fn names() -> Vec<String> {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    let files = folder.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
    files.filter(|name| name != "main").map(|name| name.replace('_', "-")).collect()
}

#[test]
fn each_benchmark_has_help_and_refuses_what_it_does_not_know() {
    let all = program().arg("--help").output().unwrap();
    let all = String::from_utf8(all.stdout).unwrap();
    let names = names();
    assert!(names.len() > 8, "{names:?}");
    for name in &names {
        let listed = all.lines().any(|line| line.trim_start().starts_with(&format!("{name} ")));
        assert!(listed, "{name} is not in the list: {all}");
        let help = run(name, &["--help"]);
        let printed = String::from_utf8_lossy(&help.stdout);
        assert!(help.status.success() && printed.starts_with("Measure "), "{name}: {help:?}");
        assert!(printed.contains(&format!("-p eventhorizon-bench -- {name}")), "{name}: {printed}");
        ended(&run(name, &["--no-such-option"]), 2, &["--no-such-option"], name);
    }
}

#[test]
fn what_cannot_be_is_refused_at_once() {
    let refused: [(&str, &[&str], &[&str]); 10] = [
        ("phold", &["--seconds=nan"], &["finite"]),
        ("phold", &["--seconds=1e300"], &["86400"]),
        ("phold", &["--population=4,0"], &["population"]),
        ("phold", &["--group-size=64,96"], &["power of two"]),
        ("sync", &["--side=70000"], &["70000"]),
        ("sync", &["--customers=1e308"], &["customers"]),
        ("replicas", &["--rate=0.1,-inf"], &["finite"]),
        ("matching-cpu", &["1"], &["2..="]),
        ("search", &["--seconds=nan"], &["finite"]),
        ("search", &["--side=0"], &["0"]),
    ];
    for (name, args, words) in refused {
        ended(&run(name, args), 2, words, &format!("{name} {args:?}"));
    }
}

/// A benchmark that needs no adapter.
const SPEAKER: (&str, [&str; 3]) = ("matching-cpu", ["1000", "--alpha", "1"]);

#[test]
fn a_closed_standard_output_ends_a_benchmark_without_a_word() {
    let (name, args) = SPEAKER;
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let output = program().arg(name).args(args).stdout(writer).output().unwrap();
    assert!(output.status.code() == Some(141) && output.stderr.is_empty(), "{output:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_a_failure() {
    let (name, args) = SPEAKER;
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = program().arg(name).args(args).stdout(full).output().unwrap();
    ended(&output, 1, &["No space left on device"], name);
}

/// The benchmarks themselves check the contents of their rows.
#[test]
fn small_runs_measure_something() {
    let small: [(&str, &[&str]); 7] = [
        ("access", &["--mib", "1", "--invocations", "64"]),
        (
            "phold",
            &["--lps", "256", "--population", "4", "--rate", "0.1", "--queue", "heap", "--seconds", "0.05"],
        ),
        ("sync", &["--side", "16", "--sync", "horizon", "--seconds", "0.05"]),
        (
            "replicas",
            &["--replicas", "8", "--lps", "16", "--rate", "0.1", "--mapping", "team", "--seconds", "0.05"],
        ),
        ("matching-cpu", &["1000", "--alpha", "1"]),
        ("matching-host", &["1000", "--players", "100"]),
        (
            "search",
            &[
                "--side",
                "16",
                "--mapping",
                "thread",
                "--searches",
                "64",
                "--seconds",
                "0.05",
                "--cpu-seconds",
                "0.01",
            ],
        ),
    ];
    for (name, args) in small {
        let output = run(name, args);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.lines().count() >= 3, "{name} {args:?}: {output:?}");
    }
}
