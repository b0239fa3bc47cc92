//! Errors between the host and a device, and errors in WGSL.

use crate::ErrorKind;

/// Advice if there is no adapter.
#[cfg(not(target_arch = "wasm32"))]
const ADVICE: &str = "Install a Vulkan, Metal or DX12 driver; on Debian and Ubuntu \
    `apt-get install mesa-vulkan-drivers libvulkan1` installs a software adapter";
#[cfg(target_arch = "wasm32")]
const ADVICE: &str = "This browser offers no WebGPU here; use Chrome or Edge 113, Safari 26, Firefox 141 or later, \
    a page from https or localhost, and hardware acceleration in its settings";

/// Why WGSL files do not link to a module.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// An `// import:` names a file that the library does not have.
    #[error(
        "{file}:{line}: `// import: {import}` is not a file of the library. {}",
        match nearest {
            Some(nearest) => format!("Did you mean `{nearest}`?"),
            None => "Name one of its folder `shaders`, such as `statistics/tally.wgsl`".to_owned(),
        }
    )]
    UnknownImport {
        /// The importing file.
        file: String,
        /// Its line.
        line: u32,
        /// The name of the missing file.
        import: String,
        /// The file of the library with the most similar name, if one is similar.
        nearest: Option<&'static str>,
    },
    /// A `// requires:` names an unknown feature.
    #[error("{file}:{line}: expected `int64` or `subgroups` in `// requires:`, found `{feature}`")]
    UnknownFeature {
        /// The requiring file.
        file: String,
        /// Its line.
        line: u32,
        /// The unknown feature.
        feature: String,
    },
    /// Library files were linked that do not fit together.
    #[error("{file}:{line}: {problem}")]
    Head {
        /// The file whose head does not hold.
        file: String,
        /// The line of the head.
        line: u32,
        /// What is missing or declared twice.
        problem: String,
    },
    /// The joined WGSL is invalid. The report points at the original files.
    #[error("{file}:{line}:{column}: {message}\n{report}")]
    Wgsl {
        /// The file of the main label.
        file: String,
        /// Its line, from 1.
        line: u32,
        /// Its column, from 1, in bytes.
        column: u32,
        /// Whether it is a library file.
        library: bool,
        /// naga's message.
        message: String,
        /// The lines in question, with marks.
        report: String,
    },
    /// A user file breaks its contract with the engine.
    #[error("{file}:{line}:{column}: {what}. {remedy}\n{report}")]
    Forbidden {
        /// The user's file.
        file: String,
        /// Its line, from 1.
        line: u32,
        /// Its column, from 1, in bytes.
        column: u32,
        /// What is forbidden.
        what: String,
        /// What to do instead.
        remedy: String,
        /// The line in question, with a mark.
        report: String,
    },
    /// Deeply nested WGSL needs a thread with a large stack, and the system does not start one.
    #[error(
        "deeply nested WGSL needs a thread with a large stack: {reason}. Give the process \
        more threads and memory, or nest expressions less"
    )]
    Stack {
        /// The system's reason.
        reason: String,
    },
}

crate::text::debug_is_display!(LinkError);

impl LinkError {
    /// [`ErrorKind::Model`]; of [`LinkError::Stack`], [`ErrorKind::Device`].
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Stack { .. } => ErrorKind::Device,
            Self::UnknownImport { .. }
            | Self::UnknownFeature { .. }
            | Self::Head { .. }
            | Self::Wgsl { .. }
            | Self::Forbidden { .. } => ErrorKind::Model,
        }
    }
}

/// An error of the `gpu` module.
///
/// Unless a variant documents otherwise, the device remains usable: a failed call was rejected
/// before it changed anything.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter of this machine can run compute shaders.
    #[error("no usable GPU adapter: {reason}. {ADVICE}")]
    NoAdapter {
        /// The searched adapters, and why none is usable.
        reason: String,
    },
    /// The adapter refused to open a device.
    #[error(
        "adapter {adapter} refused to open a device: {reason}. Update its driver, or choose another with WGPU_ADAPTER_NAME"
    )]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// The driver's message.
        reason: String,
    },
    /// A buffer is larger than the device can bind.
    #[error(
        "{what} needs {needed} bytes, and this device binds at most {limit} bytes in one buffer \
         (max_storage_buffer_binding_size, max_buffer_size). Choose a smaller size or an adapter with larger limits"
    )]
    TooLarge {
        /// The buffer.
        what: String,
        /// Requested bytes.
        needed: u64,
        /// Maximum number of bytes that the device binds.
        limit: u64,
    },
    /// A read or write exceeds a buffer.
    #[error("{what} exceeds the buffer: expected at most {size} values, found {len} from index {first} on")]
    OutOfRange {
        /// The operation and the buffer.
        what: String,
        /// The first index.
        first: u64,
        /// The number of values.
        len: u64,
        /// The number of values in the buffer.
        size: u64,
    },
    /// A kernel needs more of a resource than the device has.
    #[error(
        "kernel {kernel} needs {needed} {what}, and this device has {limit}. Request more when you open the device, as `Gpu::new()` does, or use another adapter"
    )]
    Limit {
        /// The kernel.
        kernel: String,
        /// The limited resource, in the plural.
        what: &'static str,
        /// Needed number.
        needed: u64,
        /// The device's limit.
        limit: u64,
    },
    /// A kernel was linked from a file that requires a feature which the device lacks.
    #[error(
        "kernel {kernel} needs the feature {feature}, which was not enabled on this device. Request it when you open the device, or use `Gpu::new()`"
    )]
    MissingFeature {
        /// The kernel.
        kernel: String,
        /// The feature's name in wgpu.
        feature: String,
    },
    /// A variable of a kernel has no buffer.
    #[error("kernel {kernel}: no buffer is bound to the variable `{variable}`")]
    Unbound {
        /// The kernel.
        kernel: String,
        /// The WGSL variable.
        variable: String,
    },
    /// WGSL that does not link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The driver has no memory left. No data is lost: free something or choose a smaller size.
    #[error(
        "out of device memory while {context} (choose a smaller model or fewer runs at once, or close other programs): {message}"
    )]
    OutOfMemory {
        /// The current operation.
        context: String,
        /// The driver's message.
        message: String,
    },
    /// wgpu rejected a call: a bug in this library, or WGSL that naga accepts and the driver does
    /// not.
    #[error(
        "the device refused {context} (please report it with the output of `eventhorizon doctor`): {message}"
    )]
    Refused {
        /// The current operation.
        context: String,
        /// wgpu's message.
        message: String,
    },
    /// The device is gone (driver reset, unplugged, destroyed). Fatal: open a new one and restart
    /// the run.
    #[error("the device was lost: {reason}. Open a new one and start again")]
    Lost {
        /// The driver's message.
        reason: String,
    },
    /// Submitted work did not finish in time. Treat it as fatal: the device may be hung.
    ///
    /// Destroying a device waits for its work, so a program that drops a hung one hangs too. The
    /// library therefore leaks the device, a lent one too: it is never destroyed, and dropping its
    /// handles returns at once. The program then ends normally on Mesa's software adapter; no other
    /// driver was tested. Another driver may still wait in a handler that runs when the process
    /// exits (`std::process::exit` and a return from `main` run those). `std::process::abort` runs
    /// none.
    #[error(
        "the device did not finish within {seconds} s. It may be hung or busy with other work: save what you need and \
         end the process (std::process::abort if it hangs when it exits), or continue with another adapter"
    )]
    Timeout {
        /// How long the host waited.
        seconds: u64,
    },
}

crate::text::debug_is_display!(GpuError);

impl GpuError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Link(error) => error.kind(),
            Self::OutOfRange { .. } | Self::Unbound { .. } => ErrorKind::Usage,
            Self::NoAdapter { .. }
            | Self::NoDevice { .. }
            | Self::TooLarge { .. }
            | Self::Limit { .. }
            | Self::MissingFeature { .. }
            | Self::OutOfMemory { .. }
            | Self::Refused { .. }
            | Self::Lost { .. }
            | Self::Timeout { .. } => ErrorKind::Device,
        }
    }
}

impl GpuError {
    pub(crate) fn from_wgpu(context: &str, error: wgpu::Error) -> Self {
        let context = context.to_owned();
        match error {
            wgpu::Error::OutOfMemory { source } => Self::OutOfMemory { context, message: source.to_string() },
            wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
                // wgpu reports a call on a lost device as a validation error.
                if description.contains("device is lost") {
                    Self::Lost { reason: description }
                } else {
                    Self::Refused { context, message: description }
                }
            }
        }
    }
}
