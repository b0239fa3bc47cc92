//! What can go wrong between the host and a device, and with WGSL before it is there.

use crate::ErrorKind;

/// What helps where there is no adapter.
#[cfg(not(target_arch = "wasm32"))]
const ADVICE: &str = "Install a Vulkan, Metal or DX12 driver; on Debian and Ubuntu \
    `apt-get install mesa-vulkan-drivers libvulkan1` brings one that runs on the processor";
#[cfg(target_arch = "wasm32")]
const ADVICE: &str = "This browser offers no WebGPU here: take one that does (Chrome and Edge 113, Safari 26, Firefox 141, or later), \
    a page from https or localhost, and hardware acceleration in its settings";

/// Why WGSL files did not make a module.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// An `// import:` names a file that the library does not have.
    #[error("{file}:{line}: `// import: {import}` names no file of the library")]
    UnknownImport {
        /// The importing file.
        file: String,
        /// Its line.
        line: u32,
        /// The name that was not found.
        import: String,
    },
    /// A `// requires:` names a feature that the linker does not know.
    #[error("{file}:{line}: `// requires: {feature}` is neither `int64` nor `subgroups`")]
    UnknownFeature {
        /// The requiring file.
        file: String,
        /// Its line.
        line: u32,
        /// The word that was not understood.
        feature: String,
    },
    /// Files of the library's were linked that do not belong together.
    #[error("{file}:{line}: {problem}")]
    Head {
        /// The file whose head says what is not so.
        file: String,
        /// The line.
        line: u32,
        /// What that is.
        problem: String,
    },
    /// The joined WGSL is wrong; the report points at the files that were joined.
    #[error("{file}:{line}:{column}: {message}\n{report}")]
    Wgsl {
        /// The file that the main label points at.
        file: String,
        /// Its line, from 1.
        line: u32,
        /// Its column, from 1, in bytes.
        column: u32,
        /// Whether it is a file of the library's.
        library: bool,
        /// What is wrong, in naga's words.
        message: String,
        /// The lines in question, marked.
        report: String,
    },
    /// A user's file does what its contract with the engine does not allow: see
    /// [`Program::check_user`](super::Program::check_user).
    #[error("{file}:{line}:{column}: {what}. {remedy}\n{report}")]
    Forbidden {
        /// The user's file.
        file: String,
        /// Its line, from 1.
        line: u32,
        /// Its column, from 1, in bytes.
        column: u32,
        /// What is not allowed.
        what: String,
        /// What is.
        remedy: String,
        /// The line in question, marked.
        report: String,
    },
    /// WGSL that is nested deeply is compiled by a thread with a large stack, and the system gives
    /// none.
    #[error(
        "WGSL that is nested deeply needs a thread with a large stack: {reason}. Give the process \
        more threads and memory, or the expressions fewer levels"
    )]
    Stack {
        /// Why.
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
/// Unless a variant says otherwise the device is still usable: what failed was refused before it
/// changed anything.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter of this machine can run compute shaders.
    #[error("no usable GPU adapter: {reason}. {ADVICE}")]
    NoAdapter {
        /// What was looked at and why it did not serve.
        reason: String,
    },
    /// The adapter refused to open a device.
    #[error("adapter {adapter} refused to open a device: {reason}")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// The driver's words.
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
        /// Bytes asked for.
        needed: u64,
        /// Bytes that the device binds at most.
        limit: u64,
    },
    /// Values were asked for, or written, that a buffer does not have.
    #[error(
        "{what} reaches beyond the buffer's end: {len} values from index {first} on, and it holds {size}"
    )]
    OutOfRange {
        /// What was asked for, with the buffer.
        what: String,
        /// The first index.
        first: u64,
        /// How many values.
        len: u64,
        /// How many values the buffer holds.
        size: u64,
    },
    /// A kernel needs more of something than the device has.
    #[error("kernel {kernel} needs {needed} {what}, and this device has {limit}")]
    Limit {
        /// The kernel.
        kernel: String,
        /// The limited thing, in the plural.
        what: &'static str,
        /// How many are needed.
        needed: u64,
        /// How many there are.
        limit: u64,
    },
    /// A kernel was linked from a file whose feature the device lacks.
    #[error("kernel {kernel} needs the feature {feature}, which was not enabled on this device")]
    MissingFeature {
        /// The kernel.
        kernel: String,
        /// The feature's name as wgpu spells it.
        feature: String,
    },
    /// A variable of a kernel was left without a buffer.
    #[error("kernel {kernel}: no buffer was given for the variable `{variable}`")]
    Unbound {
        /// The kernel.
        kernel: String,
        /// The WGSL variable.
        variable: String,
    },
    /// WGSL that does not link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The driver has no memory left for this. Nothing was lost; free something or choose a smaller
    /// size.
    #[error("out of device memory while {context}: {message}")]
    OutOfMemory {
        /// What was being done.
        context: String,
        /// The driver's words.
        message: String,
    },
    /// wgpu refused a call: a fault of this library, or of WGSL that passed naga and not the
    /// driver.
    #[error("the device refused {context}: {message}")]
    Refused {
        /// What was being done.
        context: String,
        /// wgpu's words.
        message: String,
    },
    /// The device is gone (driver reset, unplugged, destroyed). Fatal: open a new one and start the
    /// run again.
    #[error("the device was lost: {reason}. Open a new one and start again")]
    Lost {
        /// The driver's words.
        reason: String,
    },
    /// Submitted work did not finish in time. Treat as fatal: the device may be hung.
    ///
    /// Destroying a device waits for its work, so a program that drops a hung one hangs too. The
    /// library therefore leaks the device, a lent one too: it is never destroyed, dropping handles
    /// of it returns at once, and so does the end of the program on Mesa's processor driver, the
    /// only one on which this was tried. Another driver may still wait in what it registered to run
    /// when the process exits (`std::process::exit` runs that, like returning from `main`);
    /// `std::process::abort` runs nothing.
    #[error(
        "the device did not finish within {seconds} s. It may be hung or busy with other work: save what you need and \
         end the process (std::process::abort if it hangs when it exits), or go on with another adapter"
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
