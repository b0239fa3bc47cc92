//! Models that once hung, overloaded the driver or gave wrong results: each is refused with its
//! line, or runs.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(args: &[&str]) -> Output {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/hostile_models");
    let mut command = Command::new(env!("CARGO_BIN_EXE_eventhorizon"));
    command.current_dir(folder).env_remove("RUST_LOG").stdin(Stdio::null());
    command.arg("run").args(args).output().unwrap()
}

/// Checks that a model is refused before a driver compiles it, with these words.
fn refused(file: &str, words: &[&str]) {
    let output = run(&[file]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty(), "{file}: {printed}");
    for word in words {
        assert!(printed.contains(word), "{file} without {word}: {printed}");
    }
    assert!(
        !printed.contains("panicked") && !printed.contains("shaders/") && printed.len() < 2000,
        "{printed}"
    );
}

#[test]
fn what_drivers_copy_too_often_is_refused() {
    refused("callchain.toml", &["callchain.wgsl:", "` → `f", "` → `f0` have ", "the bound is 200000"]);
    refused("cc14.toml", &["cc14.wgsl:17:", "`f14` → `f13` → `f12` → …", "the bound is 200000"]);
    refused("lin1000.toml", &["lin1000.wgsl:", "a chain of 65 functions", "the bound is 64"]);
    refused("constarr.toml", &["constarr.wgsl:9:", "`A` has 1000000 words", "1024 words", "`data`"]);
}

#[test]
fn a_constant_array_that_is_indexed_runs() {
    let output = run(&["ca1000.toml", "--json"]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
}

#[test]
fn a_loop_that_changes_nothing_is_refused() {
    refused("loop_cont.toml", &["loop_cont.wgsl:9:15: this loop changes nothing"]);
}

#[test]
fn a_type_of_wgsls_keeps_its_name() {
    refused("alias_u32.toml", &["alias_u32.wgsl:3:7: `u32` is the name of a type"]);
}

/// llvmpipe ends the loops of an invocation after 65,535 iterations. With one LP per invocation
/// that shows; invocations that share LPs do not reach the limit.
#[test]
fn loops_that_are_cut_are_a_fault_by_mapping_and_no_other_result() {
    let output = run(&["loop_60000.toml", "--check", "--backend", "gpu"]);
    let (out, printed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!printed.contains("report the adapter"), "{printed}");
    if !out.contains("llvmpipe") {
        return;
    }
    let checked: Vec<_> = out.lines().filter(|line| line.starts_with("checked: ")).collect();
    assert_eq!(checked.len(), 5, "{out}");
    for (line, is_cut) in checked.iter().zip([false, false, true, true, true]) {
        assert_eq!(line.contains("the driver ended a loop early"), is_cut, "{line}");
    }
    // Complete runs are correct: `b` is 1,799,970,000 for each of the events that `a` counts.
    let each = run(&["loop_60000.toml", "--each", "-", "--backend", "gpu"]);
    let each = String::from_utf8_lossy(&each.stdout).into_owned();
    let rows: Vec<Vec<u32>> = each
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|word| word.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.len(), 5, "{each}");
    assert!(rows.iter().all(|row| row[1] > 0 && row[2] == row[1].wrapping_mul(1_799_970_000)), "{each}");
}

#[test]
fn a_measure_that_is_constant_is_named_and_the_others_are_drawn() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("constplot");
    let _ = std::fs::remove_dir_all(&folder);
    let output = run(&["constplot.toml", "--replications", "20", "--plot", &folder.display().to_string()]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("aconst"), "{printed}");
    for name in ["wait.svg", "wait_convergence.svg", "longest.svg", "idle.svg"] {
        assert!(std::fs::read_to_string(folder.join(name)).unwrap().contains("<svg"), "{name}");
    }
}
