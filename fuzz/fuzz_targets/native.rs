#![no_main]
#![allow(dead_code, reason = "the target uses a part of these modules")]

//! WGSL on the CPU: after a first byte, a text as it is or the bytes of a random program.

#[path = "../../src/native/mod.rs"]
mod native;
#[path = "../../src/native/tests/programs/mod.rs"]
mod programs;

use eventhorizon::ErrorKind;
use native::{Code, Engine};
use programs::{BINDINGS, Dialect, contents, program};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| match bytes {
    [0..64, text @ ..] => {
        let text = String::from_utf8_lossy(text);
        for engine in [Engine::Machine, Engine::Interpreter] {
            let _ = Code::new(&text, &["run"], engine);
        }
    }
    [_, bytes @ ..] => {
        let text = program(bytes, Dialect::Native);
        assert_eq!(run(&text, Engine::Machine), run(&text, Engine::Interpreter), "{text}");
    }
    [] => {}
});

/// The result and all buffers after a run.
fn run(text: &str, engine: Engine) -> (u64, [Vec<u32>; 5]) {
    let code = Code::new(text, &["run"], engine).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut contents = contents(1);
    let mut block = code.block();
    block.set_fuel(1 << 40);
    for (name, words) in BINDINGS.iter().zip(&mut contents) {
        if let Some(buffer) = code.buffer(name) {
            // SAFETY: `contents` lives as long as the block and stays where it is.
            unsafe { block.bind(buffer, words.as_mut_ptr().cast(), 4 * words.len()) };
        }
    }
    // SAFETY: the argument is a scalar, and all buffers are bound.
    let result = unsafe { code.call(&mut block, 0, &[1]) };
    (result, contents)
}
