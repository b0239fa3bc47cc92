//! Values that lie in memory, and texts that are too large, on both engines.

use super::super::{Code, Engine};
use super::engines;

/// What the entry `f` of a text returns for each argument, the same from all engines.
fn results(text: &str, arguments: &[u64]) -> Vec<u64> {
    let of = |engine| {
        let code = Code::new(text, &["f"], engine).unwrap_or_else(|e| panic!("{engine:?}: {e}"));
        let mut block = code.block();
        block.set_fuel(1 << 30);
        // SAFETY: the only argument is a scalar.
        arguments.iter().map(|argument| unsafe { code.call(&mut block, 0, &[*argument]) }).collect::<Vec<_>>()
    };
    let all: Vec<_> = engines().into_iter().map(of).collect();
    assert!(all.iter().all(|results| *results == all[0]), "{all:?}");
    all[0].clone()
}

#[test]
fn large_values_pass_through_calls() {
    let text = "
        struct Big { values: array<u32, 100>, more: vec3<u32>, }
        var<private> kept: Big;
        fn fill(start: u32) -> Big {
            var big: Big;
            for (var i = 0u; i < 100u; i++) { big.values[i] = start + i; }
            big.more.y = start;
            return big;
        }
        fn sum(big: Big) -> u32 {
            var all = big.more.y;
            for (var i = 0u; i < 100u; i++) { all += big.values[i]; }
            return all;
        }
        fn f(start: u32) -> u32 {
            let first = fill(start);
            kept = first;
            kept.values[7] = 0u;
            // What was read before the store stays as it was.
            let before = kept;
            kept.values[8] = 0u;
            return sum(first) * 1000u + sum(fill(start)) - sum(kept) + before.values[8];
        }";
    let expected = |start: u64| {
        let sum = 101 * start + 4950;
        sum * 1000 + 2 * start + 15 + start + 8
    };
    assert_eq!(results(text, &[0, 5]), [expected(0), expected(5)]);
}

#[test]
fn tables_of_constants_are_indexed() {
    let squares: Vec<_> = (0..200).map(|i| format!("{}u", i * i)).collect();
    let text = format!(
        "const TABLE = array<u32, 200>({});
        fn f(i: u32) -> u32 {{ return TABLE[i] + array<u32, 6>(1u, 2u, 3u, 4u, 5u, 6u)[i % 6u]; }}",
        squares.join(", ")
    );
    assert_eq!(results(&text, &[0, 10, 1000]), [1, 105, 199 * 199 + 5]);
}

#[test]
fn a_function_may_end_in_a_switch_that_returns() {
    let text = "
        fn f(x: u32) -> u32 {
            switch x {
                case 0u, 1u: { return 10u; }
                case 2u: { loop { if x > 1u { break; } } return 20u; }
                default: { return x; }
            }
        }";
    assert_eq!(results(text, &[0, 1, 2, 9]), [10, 10, 20, 9]);
}

#[test]
fn chains_of_calls_and_blocks_are_translated() {
    let mut text = "fn f0(x: u32) -> u32 { return x; }\n".to_owned();
    for i in 1..200 {
        let call = format!("return f{}(x + 1u);", i - 1);
        text +=
            &format!("fn f{i}(x: u32) -> u32 {{ if x < 5000u {{ if x != 7u {{ {call} }} }} return 1u; }}\n");
    }
    text += "fn f(x: u32) -> u32 { return f199(x); }";
    assert_eq!(results(&text, &[100, 7, 5000]), [299, 1, 1]);
}

#[test]
fn a_buffer_that_moves_is_written_where_it_is() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> words: array<u32>;
        fn f(x: u32) -> u32 { words[x] = 9u; return arrayLength(&words); }";
    for engine in engines() {
        let code = Code::new(text, &["f"], engine).unwrap();
        let (mut first, mut second) = ([0_u32; 4], [0_u32; 4]);
        let mut block = code.block();
        let mut empty = block.clone();
        // SAFETY: both arrays outlive the calls; arguments are scalars.
        unsafe {
            block.bind(0, first.as_mut_ptr().cast(), 16);
            assert_eq!(code.call(&mut block, 0, &[1]), 4);
            block.rebind(0, second.as_mut_ptr().cast());
            assert_eq!(code.call(&mut block, 0, &[77]), 4);
            empty.rebind(0, second.as_mut_ptr().cast());
            assert_eq!(code.call(&mut empty.clone(), 0, &[0]), 0);
        }
        assert_eq!([first, second], [[0, 9, 0, 0], [0, 0, 0, 9]], "{engine:?}");
    }
}

#[test]
fn what_is_too_large_for_machine_code_is_refused_with_its_line() {
    if !engines().contains(&Engine::Machine) {
        return;
    }
    let text =
        "fn g(i: u32) -> u32 {\n    var all: array<u32, 100000>;\n    all[i] = i;\n    return all[3];\n}
        fn f(i: u32) -> u32 {\n    return g(i);\n}";
    let error = Code::new(text, &["f"], Engine::Machine).unwrap_err();
    assert_eq!(error.line, 1, "{error}");
    assert!(error.what.contains("400000 bytes"), "{error}");
    let missing = Code::new(text, &["nothing"], Engine::Machine).unwrap_err();
    assert!(missing.what.contains("`nothing`"), "{missing}");
}
