//! What `--check` found: the same runs in several ways.

use std::io::{Write as _, stdout};

use eventhorizon::statistics::{FailureCause, Observations};
use serde_json::{Value, json};

use crate::shared::Outcome;

/// The largest number of runs of a check.
pub(in crate::commands) const CHECKED: u32 = 16;

/// A way in which the runs were made.
pub(in crate::commands) struct Checked {
    way: String,
    /// Their fingerprint, or why this way is not possible.
    fingerprint: Result<u64, String>,
    /// How many runs ended by a fault, and the first of these faults.
    faults: Option<(usize, String)>,
}

impl Checked {
    /// What a way came to: the fingerprint and the observations of its runs.
    pub(in crate::commands) fn new(way: String, came: Result<(u64, Vec<Observations>), String>) -> Self {
        let (fingerprint, observations) = match came {
            Ok((fingerprint, observations)) => (Ok(fingerprint), observations),
            Err(error) => (Err(error), Vec::new()),
        };
        // A measure that is no number is a result like others.
        let mut faults = observations
            .iter()
            .flat_map(Observations::failures)
            .filter(|failure| !matches!(failure.cause, FailureCause::NotANumber(_)));
        let first = faults.next().map(|fault| fault.cause.to_string());
        let faults = first.map(|first| (1 + faults.count(), first));
        Self { way, fingerprint, faults }
    }

    /// Prints the line of the table.
    pub(in crate::commands) fn show(&self) -> Outcome<()> {
        let way = &self.way;
        match (&self.fingerprint, &self.faults) {
            (Err(error), _) => writeln!(stdout(), "checked: {way}: not possible here: {error}")?,
            (Ok(fingerprint), None) => writeln!(stdout(), "checked: {way}: fingerprint {fingerprint:016x}")?,
            (Ok(fingerprint), Some((count, first))) => {
                let runs = if *count == 1 { "run" } else { "runs" };
                writeln!(
                    stdout(),
                    "checked: {way}: fingerprint {fingerprint:016x}, {count} {runs} failed: {first}"
                )?;
            }
        }
        Ok(())
    }

    pub(in crate::commands) fn json(&self) -> Value {
        json!({
            "way": self.way,
            "fingerprint": self.fingerprint.as_ref().ok().map(|fingerprint| format!("{fingerprint:016x}")),
            "error": self.fingerprint.as_ref().err(),
            "failed": self.faults.as_ref().map_or(0, |(count, _)| *count),
            "fault": self.faults.as_ref().map(|(_, first)| first),
        })
    }
}

/// An error if ways have different fingerprints, or fewer than two ways were possible.
pub(in crate::commands) fn verdict(checked: &[Checked]) -> Outcome<()> {
    let came: Vec<_> = checked.iter().filter_map(|way| way.fingerprint.as_ref().ok()).collect();
    if came.len() < 2 {
        return Err(
            "the check compares ways in which runs are made, and fewer than two were possible: see above"
                .into(),
        );
    }
    if came.iter().all(|other| *other == came[0]) {
        return Ok(());
    }
    let failed: Vec<_> = checked.iter().filter(|way| way.faults.is_some()).collect();
    let ways: Vec<_> = failed.iter().map(|way| way.way.as_str()).collect();
    let first = failed.first().and_then(|way| way.faults.as_ref());
    Err(match first {
        Some((_, fault)) => {
            format!("the check cannot compare runs that failed ({}): {fault}", ways.join(", ")).into()
        }
        None => "the check found different results: a model that uses f32, or reads beyond the end of `data`, may do that. \
                 If this one does neither, \
             please report the adapter, the driver and the model"
            .into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventhorizon::statistics::{Column, Failure, Pairing, Values};

    fn way(name: &str, fingerprint: u64, causes: Vec<FailureCause>) -> Checked {
        let column = Column { name: "a".to_owned(), values: Values::F64(vec![0.0; 3]) };
        let failures = (0..).zip(causes).map(|(replication, cause)| Failure { replication, cause });
        let observations = Observations::new(3, vec![column], failures, Pairing::Independent).unwrap();
        Checked::new(name.to_owned(), Ok((fingerprint, vec![observations])))
    }

    fn fault(kind: &str) -> FailureCause {
        FailureCause::Fault { kind: kind.to_owned(), lp: 3 }
    }

    #[test]
    fn faults_are_named_and_no_adapter_is_blamed_for_them() {
        let cut = || way("team", 2, vec![fault("a loop was cut"), fault("later")]);
        let reported = verdict(&[way("thread", 1, Vec::new()), cut()]).unwrap_err().to_string();
        assert_eq!(reported, "the check cannot compare runs that failed (team): LP 3: a loop was cut");
        assert_eq!(cut().json()["failed"], 2);
        // The same faults in all ways are the same results.
        verdict(&[cut(), cut()]).unwrap();
        let number = || vec![FailureCause::NotANumber("a".to_owned())];
        let reported =
            verdict(&[way("thread", 1, number()), way("team", 2, number())]).unwrap_err().to_string();
        assert!(reported.contains("report the adapter"), "{reported}");
        let none = Checked::new("grid".to_owned(), Err("too large".to_owned()));
        let reported = verdict(&[none, way("thread", 1, Vec::new())]).unwrap_err().to_string();
        assert!(reported.contains("fewer than two"), "{reported}");
    }
}
