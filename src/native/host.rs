//! Functions of components as code calls them: those for which there are no instructions.

use super::interpret::component::{Binary, Quaternary, Ternary, Unary};
use super::interpret::float::{Pack, Unpack};

// Code passes the address of the function first; all other words are `u64`.

pub(super) extern "C" fn unary(f: usize, a: u64) -> u64 {
    // SAFETY: translators pass the address of a function of this type; so below.
    unsafe { std::mem::transmute::<usize, Unary>(f)(a) }
}

pub(super) extern "C" fn binary(f: usize, a: u64, b: u64) -> u64 {
    // SAFETY: as above.
    unsafe { std::mem::transmute::<usize, Binary>(f)(a, b) }
}

pub(super) extern "C" fn ternary(f: usize, a: u64, b: u64, c: u64) -> u64 {
    // SAFETY: as above.
    unsafe { std::mem::transmute::<usize, Ternary>(f)(a, b, c) }
}

pub(super) extern "C" fn quaternary(f: usize, a: u64, b: u64, c: u64, d: u64) -> u64 {
    // SAFETY: as above.
    unsafe { std::mem::transmute::<usize, Quaternary>(f)(a, b, c, d) }
}

pub(super) extern "C" fn pack(f: usize, a: u64, b: u64, c: u64, d: u64) -> u64 {
    // SAFETY: as above.
    unsafe { std::mem::transmute::<usize, Pack>(f)([a, b, c, d]) }
}

pub(super) extern "C" fn unpack(f: usize, word: u64, component: u64) -> u64 {
    // SAFETY: as above.
    unsafe { std::mem::transmute::<usize, Unpack>(f)(word)[component as usize & 3] }
}
