//! Tick time.
