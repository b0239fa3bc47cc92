//! The limits of threads and memory: a sentence and an exit code, or fewer threads.

use std::process::{Command, Output};

use super::{ended, program, run};

fn with(variable: &str, value: &str, name: &str, args: &[&str]) -> Output {
    program(name).env(variable, value).args(args).output().unwrap()
}

#[test]
fn numbers_of_threads_that_cannot_be_are_refused() {
    let args = ["--backend", "cpu", "--lps", "16", "--until", "20"];
    for value in ["100000", "many", "-1", "99999999999999999999999999"] {
        let output = with("RAYON_NUM_THREADS", value, "phold", &args);
        ended(&output, 2, &["RAYON_NUM_THREADS", value, "up to 1024"], value);
    }
    for value in ["0", "1", "3"] {
        assert!(with("RAYON_NUM_THREADS", value, "phold", &args).status.success(), "{value}");
    }
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn programs_run_where_there_are_no_threads() {
    // No address space has room for such a stack, so no thread starts.
    let stack = (1_u64 << 48).to_string();
    for (name, args) in [
        ("mrip-pi", &["--backend", "cpu", "--replications", "40", "--points", "20", "--json"][..]),
        ("search", &["--backend", "cpu", "--random", "32", "--searches", "50", "--json"]),
    ] {
        let json = |output: Output| -> serde_json::Value {
            assert!(output.status.success(), "{name}: {output:?}");
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let few = with("RUST_MIN_STACK", &stack, name, args);
        assert!(String::from_utf8_lossy(&few.stderr).contains("gives only 0 of"), "{name}: {few:?}");
        assert_eq!(json(few)["fingerprint"], json(run(name, args))["fingerprint"], "{name}");
    }
    let ranks =
        with("RUST_MIN_STACK", &stack, "phold-ranks", &["--lps", "300", "--until", "6", "--ranks", "2"]);
    ended(&ranks, 1, &["2 ranks in one process need 2 threads", "gives 0"], "phold-ranks");
}

#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn programs_run_where_there_is_one_thread() {
    // Address space for one stack of this size, but not for two.
    let (stack, space) = (4_u64 << 30, 6_u64 << 20);
    let args = ["--backend", "cpu", "--replications", "40", "--points", "20", "--json"];
    let limited = Command::new("sh")
        .args(["-c", &format!("ulimit -v {space}; exec \"$0\" \"$@\"")])
        .args([env!("CARGO_BIN_EXE_eventhorizon"), "mrip-pi"])
        .args(args)
        .env("RUST_MIN_STACK", stack.to_string())
        .env("RAYON_NUM_THREADS", "3")
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&limited.stderr).contains("gives only 1 of 3"), "{limited:?}");
    let json = |output: &Output| -> serde_json::Value {
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(json(&limited)["fingerprint"], json(&run("mrip-pi", &args))["fingerprint"]);
}

#[test]
fn more_than_the_memory_holds_is_refused() {
    let args = ["--backend", "cpu", "--searches", "4294967295"];
    ended(&run("search", &args), 1, &["4294967295 searches", "bytes of memory", "choose fewer"], "search");
}
