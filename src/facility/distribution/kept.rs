//! Values that are kept once for the life of the program, so that distributions are small.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that all equal ones share. It stays in memory until the program ends.
pub struct Kept<T: 'static>(&'static T);

type All = HashMap<(TypeId, String), &'static (dyn Any + Send + Sync)>;

/// By type and JSON.
static ALL: LazyLock<Mutex<All>> = LazyLock::new(Mutex::default);

impl<T: Serialize + Send + Sync> Kept<T> {
    /// Keeps a value.
    ///
    /// # Panics
    /// If it cannot be written as JSON.
    pub fn new(value: T) -> Self {
        let name = serde_json::to_string(&value).expect("it is names, numbers and lists");
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all.entry((TypeId::of::<T>(), name)).or_insert_with(|| Box::leak(Box::new(value)));
        Self(kept.downcast_ref().expect("its type is part of its name"))
    }
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Kept<T> {}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: PartialEq> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0) || self.0 == other.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Serialize> Serialize for Kept<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de, T: Deserialize<'de> + Serialize + Send + Sync> Deserialize<'de> for Kept<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Self::new)
    }
}
