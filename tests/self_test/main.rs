//! `self_test`: the checks that pass, and how a device fails.

use eventhorizon::gpu::Gpu;
use eventhorizon::{SelfTest, self_test};

fn gpu() -> Gpu {
    let gpu = Gpu::new().unwrap_or_else(|error| panic!("these tests need an adapter: {error}"));
    // Never dropped: NVIDIA's driver (580.159) can deadlock when a device is destroyed while other
    // threads end.
    std::mem::forget(gpu.clone());
    gpu
}

fn names(report: &SelfTest) -> Vec<&str> {
    report.checks.iter().map(|check| &*check.name).collect()
}

#[test]
fn an_adapter_that_passes_the_tests_passes_its_own() {
    let gpu = gpu();
    let report = self_test(&gpu);
    assert!(report.passed(), "{report}");
    for name in [
        "Philox4x32-10",
        "atomics",
        "barriers",
        "subgroups",
        "sort",
        "PHOLD, heap",
        "PHOLD, calendar",
        "matching, grid",
    ] {
        assert!(names(&report).contains(&name), "{report}");
    }
    // Without optional features, other methods are checked.
    let bare = self_test(&gpu.without(wgpu::Features::all()));
    assert!(bare.passed(), "{bare}");
    let text = bare.to_string();
    assert!(text.contains("not used: baseline kernels run instead") && !text.contains("64-bit"), "{text}");
    assert!(text.ends_with(&format!("{} checks passed", bare.checks.len())), "{text}");
}

#[test]
fn a_device_that_fails_is_said_to_and_is_not_asked_again() {
    let lost = gpu();
    lost.device().destroy();
    let report = self_test(&lost);
    assert!(!report.passed() && report.checks.len() == 1, "{report}");
    let first = report.failures().next().unwrap();
    assert!(
        first.name == "Philox4x32-10" && first.outcome.as_ref().unwrap_err().contains("lost"),
        "{report}"
    );
    assert!(report.to_string().ends_with("1 of 1 checks failed"), "{report}");
    // A device with too little memory for one check fails in that one and continues.
    let small = self_test(&gpu().binding_at_most(1 << 14));
    assert!(small.failures().any(|check| check.name == "sort"), "{small}");
    assert_eq!(small.checks.last().unwrap().name, "matching, grid");
    assert!(small.checks[0].outcome.is_ok(), "{small}");
}
