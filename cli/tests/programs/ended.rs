//! How a program ends that was refused something, or failed. (The benchmarks' tests use it, too.)

use std::process::Output;

/// That it ended with a code and one sentence, and says some words.
pub(crate) fn ended(output: &Output, code: i32, words: &[&str], what: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{what}: {told}");
    assert!(told.starts_with("error: ") || told.contains("\nerror: "), "{what}: {told}");
    for word in words {
        assert!(told.contains(word), "{what}: {told}");
    }
    // Neither a panic nor what `Debug` derives.
    for word in ["panicked", "RUST_BACKTRACE", " { ", "\\n"] {
        assert!(!told.contains(word), "{what}: {told}");
    }
    assert!(told.len() < 2000, "{what}: {told}");
}
