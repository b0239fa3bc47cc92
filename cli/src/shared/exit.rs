//! The exit code of an error, by its [`ErrorKind`].

use std::error::Error;
use std::fmt;
use std::path::Path;

use eventhorizon::ErrorKind;
use eventhorizon::description::DescriptionError;
use eventhorizon::facility::fit::FitError;
use eventhorizon::facility::{CompiledError, FacilityError, FelError};
use eventhorizon::gpu::{GpuError, LinkError};
use eventhorizon::hybrid::HybridError;
use eventhorizon::matching::MatchingError;
use eventhorizon::matching::decimal::DecimalError;
use eventhorizon::models::{ModelError, PholdError};
use eventhorizon::optimise::OptimiseError;
use eventhorizon::pdes::{CheckpointError, SimulationError};
use eventhorizon::primitives::PrimitiveError;
use eventhorizon::process::ProcessError;
use eventhorizon::queue::ParallelHeapError;
use eventhorizon::random::RandomError;
use eventhorizon::replication::ReplicationError;
use eventhorizon::search::SearchError;
use eventhorizon::statistics::AnalysisError;
use eventhorizon::time::TimeError;

use super::{Failure, Outcome};

/// The exit codes, as `--help` lists them.
pub const EXIT_CODES: &str = "Exit codes:
  0    done
  1    the run failed: an event or a check, the device or its memory, a file or a connection
  2    the command line, the model or the description is wrong: change it and run again
  130  Ctrl-C; the results up to then were printed
  141  the reader of the output closed it";

/// An error of the command line that only the command can detect.
#[derive(Debug)]
struct UsageError(String);

impl UsageError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for UsageError {}

/// Builds an error with exit code 2: the input is invalid.
pub fn usage(what: impl Into<String>) -> Failure {
    Box::new(UsageError(what.into()))
}

/// An error with the file that it is about.
#[derive(Debug)]
struct FileError {
    file: String,
    source: Failure,
}

impl FileError {
    fn kind(&self) -> ErrorKind {
        kind(&*self.source).unwrap_or(ErrorKind::Io)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.source)
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

/// Adds the file to an error of its contents. The exit code stays.
pub fn in_file<T>(file: &Path, result: Result<T, impl Into<Failure>>) -> Outcome<T> {
    result.map_err(|error| -> Failure {
        Box::new(FileError { file: file.display().to_string(), source: error.into() })
    })
}

/// Adds the file of `--resume` to an error of the checkpoint in it.
pub fn in_checkpoint<T>(file: Option<&Path>, result: Outcome<T>) -> Outcome<T> {
    match (file, result) {
        (Some(file), Err(error)) if is_about_contents(&*error) => in_file(file, Err(error)),
        (_, result) => result,
    }
}

/// Whether an error is about the contents of a checkpoint. The others name the path.
fn is_about_contents(error: &(dyn Error + 'static)) -> bool {
    use CheckpointError as C;
    fn of_run(error: &SimulationError) -> Option<&CheckpointError> {
        if let SimulationError::Checkpoint(error) = error { Some(error) } else { None }
    }
    fn of_study(error: &FacilityError) -> Option<&CheckpointError> {
        match error {
            FacilityError::Checkpoint(error) => Some(error),
            FacilityError::Simulation(error) => of_run(error),
            _ => None,
        }
    }
    fn of_process(error: &ProcessError) -> Option<&CheckpointError> {
        if let ProcessError::Simulation(error) = error { of_run(error) } else { None }
    }
    fn of_ranks(error: &HybridError) -> Option<&CheckpointError> {
        if let HybridError::Simulation(error) = error { of_run(error) } else { None }
    }
    let found = error
        .downcast_ref()
        .or_else(|| error.downcast_ref().and_then(of_run))
        .or_else(|| error.downcast_ref().and_then(of_study))
        .or_else(|| error.downcast_ref().and_then(of_process))
        .or_else(|| error.downcast_ref().and_then(of_ranks));
    !matches!(
        found,
        None | Some(C::Read { .. } | C::Write { .. } | C::Place { .. } | C::Taken { .. } | C::Ahead { .. })
    )
}

macro_rules! errors_with_kinds {
    ($($error:ident),* $(,)?) => {
        /// The kind of an error of the library or of the command line.
        fn kind(error: &(dyn Error + 'static)) -> Option<ErrorKind> {
            None$(.or_else(|| error.downcast_ref().map(<$error>::kind)))*
        }

        #[cfg(test)]
        const NAMES: &[&str] = &[$(stringify!($error)),*];
    };
}

errors_with_kinds!(
    AnalysisError,
    CheckpointError,
    CompiledError,
    DecimalError,
    DescriptionError,
    FacilityError,
    FelError,
    FileError,
    FitError,
    GpuError,
    HybridError,
    LinkError,
    MatchingError,
    ModelError,
    OptimiseError,
    ParallelHeapError,
    PholdError,
    PrimitiveError,
    ProcessError,
    RandomError,
    ReplicationError,
    SearchError,
    SimulationError,
    TimeError,
    UsageError,
);

/// The exit code of an error: see [`EXIT_CODES`].
pub(super) fn code(error: &(dyn Error + 'static)) -> u8 {
    match kind(error) {
        Some(ErrorKind::Usage | ErrorKind::Model) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use eventhorizon::pdes::{Fault, FaultKind};

    use super::*;

    #[test]
    fn each_kind_has_its_exit_code() {
        let lost = || GpuError::Lost { reason: "it is gone".to_owned() };
        let fault = || Fault { kind: FaultKind::Past, lp: 0, window: 1, needed: 0 };
        let file = || DescriptionError::File { path: "m.toml".to_owned(), what: "it is gone".to_owned() };
        let cases: [(Failure, ErrorKind, u8); 16] = [
            (usage("--none"), ErrorKind::Usage, 2),
            (SimulationError::Antithetic.into(), ErrorKind::Usage, 2),
            (HybridError::NoEntities.into(), ErrorKind::Usage, 2),
            (CheckpointError::Skew.into(), ErrorKind::Usage, 2),
            (TimeError::NoTicks.into(), ErrorKind::Usage, 2),
            (PholdError::NoPopulation.into(), ErrorKind::Model, 2),
            (ModelError::Rate { what: "rate", rate: 0.0 }.into(), ErrorKind::Model, 2),
            (SimulationError::NoLps.into(), ErrorKind::Model, 2),
            (DescriptionError::Invalid("m.toml:1: wrong".to_owned()).into(), ErrorKind::Model, 2),
            (lost().into(), ErrorKind::Device, 1),
            (PrimitiveError::from(lost()).into(), ErrorKind::Device, 1),
            (DescriptionError::from(SimulationError::from(lost())).into(), ErrorKind::Device, 1),
            (SimulationError::from(fault()).into(), ErrorKind::Fault, 1),
            (HybridError::Simulation(fault().into()).into(), ErrorKind::Fault, 1),
            (file().into(), ErrorKind::Io, 1),
            (CheckpointError::Checksum.into(), ErrorKind::Io, 1),
        ];
        for (error, expected, number) in cases {
            assert_eq!((kind(&*error), code(&*error)), (Some(expected), number), "{error}");
        }
        let named = in_file(Path::new("run"), Err::<(), _>(CheckpointError::Skew)).unwrap_err();
        assert!(code(&*named) == 2 && named.to_string().starts_with("run: "), "{named}");
        let other: Failure = "the results differ".into();
        assert_eq!((kind(&*other), code(&*other)), (None, 1));
    }

    #[test]
    fn a_missing_stack_is_no_error_of_usage() {
        let stack = || GpuError::from(LinkError::Stack { reason: "none is left".to_owned() });
        let wrong = || {
            let [file, what, remedy, report] = ["model.wgsl", "it loops", "end it", ""].map(str::to_owned);
            GpuError::from(LinkError::Forbidden { file, line: 1, column: 1, what, remedy, report })
        };
        for (error, expected) in [(stack as fn() -> GpuError, 1), (wrong, 2)] {
            assert_eq!(code(&SimulationError::from(error())), expected);
            assert_eq!(code(&ReplicationError::from(error())), expected);
            assert_eq!(code(&HybridError::Simulation(error().into())), expected);
        }
    }

    /// The public error types of the library, by their declarations.
    fn declared(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                declared(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let names =
                text.lines().filter_map(|line| line.strip_prefix("pub enum ")?.split([' ', '<']).next());
            found.extend(names.filter(|name| name.ends_with("Error")).map(str::to_owned));
        }
    }

    #[test]
    fn every_error_of_the_library_has_an_exit_code() {
        let mut found = vec!["FileError".to_owned(), "UsageError".to_owned()];
        declared(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../src"), &mut found);
        found.sort();
        assert_eq!(found, NAMES);
    }
}
