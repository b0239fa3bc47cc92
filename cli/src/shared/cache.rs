//! The user's folder of compiled kernels, and of what studies cost on devices.

use std::env::var_os;
use std::path::PathBuf;

use eventhorizon::gpu::{Gpu, keep_kernels_in};
use eventhorizon::kept_costs;

/// The variable that switches the folder off, whatever its value.
pub const VARIABLE: &str = "EVENTHORIZON_NO_CACHE";

/// Keeps compiled kernels in the user's folder, unless that is switched off.
pub fn keep_kernels(no_cache: bool) {
    let is_off = no_cache || var_os(VARIABLE).is_some();
    keep_kernels_in(if is_off { None } else { folder() });
}

/// `eventhorizon` in the user's folder for caches.
fn folder() -> Option<PathBuf> {
    let path = |name: &str| var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = match std::env::consts::OS {
        "windows" => path("LOCALAPPDATA"),
        "macos" => path("HOME").map(|home| home.join("Library/Caches")),
        _ => path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache"))),
    };
    Some(caches?.join("eventhorizon"))
}

/// Where compiled kernels of a device are kept, in words.
pub fn describe(gpu: &Gpu) -> String {
    match gpu.disk_cache() {
        Some(disk) => format!("{} bytes read from {}", disk.bytes(), disk.path().display()),
        None if gpu.info().backend != wgpu::Backend::Vulkan => {
            "not kept by this program: the interface has no files for them".to_owned()
        }
        None => format!("not kept by this program (--no-cache, or the variable {VARIABLE})"),
    }
}

/// What studies on a device cost, as programs found out, in words.
pub fn describe_costs(gpu: &Gpu) -> String {
    match kept_costs(gpu) {
        none if none.is_empty() => {
            "none found out by programs that keep them: the built-in ones are used".to_owned()
        }
        costs => costs.join("; "),
    }
}
