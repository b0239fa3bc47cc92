//! Random programs: machine code against the interpreter.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::super::{Code, Engine};
use super::engines;
use super::programs::{BINDINGS, Dialect, contents, program};

/// Random programs: the same ones each time. EVENTHORIZON_LONG takes `long` new ones.
pub(super) fn check(cases: u32, long: u32, dialect: Dialect, mut test: impl FnMut(&str, u32)) {
    let config = |cases| Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = match std::env::var_os("EVENTHORIZON_LONG") {
        None => TestRunner::new_with_rng(config(cases), TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
        Some(_) => TestRunner::new(config(long)),
    };
    let bytes = proptest::collection::vec(any::<u8>(), 50..4000);
    let test = std::cell::RefCell::new(&mut test);
    let result = runner.run(&(bytes, any::<u32>()), |(bytes, seed)| {
        let text = program(&bytes, dialect);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test.borrow_mut()(&text, seed)))
            .map_err(|_| TestCaseError::fail(text))
    });
    if let Err(proptest::test_runner::TestError::Fail(text, (_, seed))) = result {
        panic!("seed {seed}, program:\n{text}");
    }
    result.unwrap();
}

/// All buffers after a run.
pub(super) fn run(text: &str, seed: u32, engine: Engine) -> Vec<u32> {
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
        check(cases, 100 * cases, dialect, |text, seed| {
            assert_eq!(run(text, seed, Engine::Machine), run(text, seed, Engine::Interpreter));
        });
    }
}
