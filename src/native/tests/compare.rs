//! Random programs: machine code against the interpreter.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::super::{Code, Engine};
use super::engines;
use super::programs::{BINDINGS, Dialect, contents, program};

/// Random cases: the same ones each time. EVENTHORIZON_LONG takes `long` new ones.
pub(crate) fn runner(cases: u32, long: u32) -> TestRunner {
    let config = |cases| Config { cases, failure_persistence: None, ..Config::default() };
    match std::env::var_os("EVENTHORIZON_LONG") {
        None => TestRunner::new_with_rng(config(cases), TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
        Some(_) => TestRunner::new(config(long)),
    }
}

/// Checks that random programs do the same in two ways of running them.
pub(crate) fn check(mut runner: TestRunner, dialect: Dialect, both: impl Fn(&str, u32) -> [Vec<u32>; 2]) {
    let bytes = proptest::collection::vec(any::<u8>(), 50..4000);
    let result = runner.run(&(bytes, any::<u32>()), |(bytes, seed)| {
        let [a, b] = both(&program(&bytes, dialect), seed);
        let difference = a.iter().zip(&b).position(|(a, b)| a != b);
        prop_assert!(a.len() == b.len() && difference.is_none(), "word {difference:?} differs");
        Ok(())
    });
    if let Err(TestError::Fail(why, (bytes, seed))) = result {
        panic!("{why} in the program below with seed {seed}\n{}", program(&bytes, dialect));
    }
    result.unwrap();
}

/// All buffers after a run.
pub(crate) fn run(text: &str, seed: u32, engine: Engine) -> Vec<u32> {
    let code = Code::new(text, &["run"], engine).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut contents = contents(seed);
    let mut block = code.block();
    block.set_fuel(1 << 40);
    for (name, words) in BINDINGS.iter().zip(&mut contents) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
        match (code.buffer(name), code.variable(name)) {
            // SAFETY: `contents` lives as long as the block and stays where it is.
            (Some(buffer), _) => unsafe { block.bind(buffer, bytes.as_mut_ptr(), bytes.len()) },
            (_, Some(place)) => block.bytes_mut()[place].copy_from_slice(bytes),
            _ => unreachable!("programs declare `{name}`"),
        }
    }
    // SAFETY: the argument is a scalar, and all buffers are bound.
    let result = unsafe { code.call(&mut block, 0, &[seed.into()]) };
    assert!(block.fuel() >= 0, "loops end without fuel");
    drop(block);
    contents[0][0] = u32::try_from(result).unwrap();
    contents.concat()
}

#[test]
fn machine_code_equals_the_interpreter() {
    if engines().len() < 2 {
        return;
    }
    for (cases, dialect) in [(30, Dialect::Portable), (20, Dialect::Native)] {
        check(runner(cases, 100 * cases), dialect, |text, seed| {
            [Engine::Machine, Engine::Interpreter].map(|engine| run(text, seed, engine))
        });
    }
}

/// Texts in which some bytes are others: most are refused, none stops the process.
#[test]
fn damaged_texts_are_refused_or_translated() {
    let bytes = proptest::collection::vec(any::<u8>(), 50..1000);
    let damage =
        proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4);
    let (refused, translated) = (Cell::new(0), Cell::new(0));
    let mut runner = runner(50, 5000);
    let result = runner.run(&(bytes, damage), |(bytes, damage)| {
        let mut text = program(&bytes, Dialect::Native).into_bytes();
        for (from, to) in damage {
            let byte = text[from.index(text.len())];
            let to = to.index(text.len());
            text[to] = byte;
        }
        let text = String::from_utf8(text).unwrap();
        for engine in engines() {
            let count = if Code::new(&text, &["run"], engine).is_ok() { &translated } else { &refused };
            count.set(count.get() + 1);
        }
        Ok(())
    });
    result.unwrap();
    assert!(refused.get() > 0 && translated.get() > 0, "{refused:?} refused, {translated:?} translated");
}
