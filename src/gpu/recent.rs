//! Machine code of the last texts: points of a design that differ in numbers share it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::native::Code;

const MOST: usize = 16;

/// The code of the last texts.
#[derive(Debug)]
pub(crate) struct RecentCode(Mutex<VecDeque<(String, Arc<Code>)>>);

impl RecentCode {
    /// Without code.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// The code of a text, which `make` makes if it is not there.
    pub(crate) fn of<E>(&self, text: &str, make: impl FnOnce() -> Result<Code, E>) -> Result<Arc<Code>, E> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |recent: &VecDeque<(String, Arc<Code>)>| {
            recent.iter().find(|(known, _)| known == text).map(|(_, code)| Arc::clone(code))
        };
        let found = known(&lock());
        if let Some(code) = found {
            return Ok(code);
        }
        // Without the lock: threads may make the code of several texts at once.
        let code = Arc::new(make()?);
        let mut recent = lock();
        if let Some(code) = known(&recent) {
            return Ok(code);
        }
        recent.truncate(MOST - 1);
        recent.push_front((text.to_owned(), Arc::clone(&code)));
        Ok(code)
    }
}
