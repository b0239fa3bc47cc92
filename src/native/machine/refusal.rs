//! What is refused while functions are translated.

use cranelift_codegen::CodegenError;
use cranelift_module::ModuleError;
use naga::Span;

use crate::native::NativeError;
use crate::native::module::platform;
use crate::native::source::Refused;

pub(super) type Translated<T> = Result<T, Refused>;

pub(super) fn refused<T>(what: impl Into<String>) -> Translated<T> {
    refused_at(Span::UNDEFINED, what)
}

pub(super) fn refused_at<T>(span: Span, what: impl Into<String>) -> Translated<T> {
    Err(Refused { what: what.into(), span })
}

/// A function that Cranelift refuses.
pub(super) fn failed(error: ModuleError) -> Refused {
    let what = match error {
        ModuleError::Compilation(CodegenError::ImplLimitExceeded | CodegenError::CodeTooLarge) => {
            "a function of this size".to_owned()
        }
        error => format!("a function ({error})"),
    };
    Refused { what, span: Span::UNDEFINED }
}

/// Why there is no machine code.
pub(in crate::native) enum Failure {
    Refused(Refused),
    Platform(String),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl Failure {
    /// The error, with the line of what is refused.
    pub(in crate::native) fn at(self, place: impl FnOnce(Refused) -> NativeError) -> NativeError {
        match self {
            Self::Refused(refused) => place(refused),
            Self::Platform(why) => platform(&why),
        }
    }
}
