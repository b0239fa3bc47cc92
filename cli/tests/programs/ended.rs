//! How a program ends after a refusal or a failure. (The tests of the benchmarks use it too.)

use std::process::Output;

/// Checks that it ended with a code and one sentence that has these words.
pub(crate) fn ended(output: &Output, code: i32, words: &[&str], what: &str) {
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{what}: {printed}");
    assert!(printed.starts_with("error: ") || printed.contains("\nerror: "), "{what}: {printed}");
    for word in words {
        assert!(printed.contains(word), "{what}: {printed}");
    }
    // Neither a panic nor the output of a derived `Debug`.
    for word in ["panicked", "RUST_BACKTRACE", " { ", "\\n"] {
        assert!(!printed.contains(word), "{what}: {printed}");
    }
    assert!(printed.len() < 2000, "{what}: {printed}");
}
