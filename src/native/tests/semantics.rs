//! Values that the WGSL specification states.

use super::super::{Block, Code};
use super::engines;

/// The entry `f` of a text, for each engine.
fn codes(text: &str) -> Vec<Code> {
    let code = |engine| Code::new(text, &["f"], engine);
    engines()
        .into_iter()
        .map(|engine| code(engine).unwrap_or_else(|e| panic!("{engine:?}: {e}\n{text}")))
        .collect()
}

fn fresh(code: &Code) -> Block {
    let mut block = code.block();
    block.set_fuel(1_000_000);
    block
}

/// Checks expressions of type `u32` in `zero`, which is 0 and known only when they run.
fn check(cases: &[(&str, u32)]) {
    for (expression, expected) in cases {
        let text = format!("fn f(zero: u32) -> u32 {{ return {expression}; }}");
        for (code, engine) in codes(&text).iter().zip(engines()) {
            // SAFETY: the only argument is a scalar.
            let value = unsafe { code.call(&mut fresh(code), 0, &[0]) };
            assert_eq!(value, u64::from(*expected), "{expression}, {engine:?}");
        }
    }
}

#[test]
fn integer_arithmetic_is_as_wgsl_states() {
    check(&[
        ("(7u + zero) / zero", 7),
        ("(7u + zero) % zero", 0),
        ("u32((-2147483647i - 1 + i32(zero)) / (i32(zero) - 1))", 0x8000_0000),
        ("u32((-2147483647i - 1 + i32(zero)) % (i32(zero) - 1))", 0),
        ("u32((i32(zero) - 7) / 2)", (-3_i32) as u32),
        ("u32((i32(zero) - 7) % 2)", (-1_i32) as u32),
        ("(1u + zero) << (33u + zero)", 2),
        ("(4u + zero) >> (33u + zero)", 2),
        ("u32((i32(zero) - 8) >> (1u + zero))", (-4_i32) as u32),
        ("zero - 1u", u32::MAX),
        ("u32(abs(-2147483647i - 1 + i32(zero)))", 0x8000_0000),
        ("u32(-(-2147483647i - 1 + i32(zero)))", 0x8000_0000),
        ("~zero", u32::MAX),
        ("select(1u, 2u, zero == 0u && zero < 1u)", 2),
    ]);
}

#[test]
fn bits_are_as_wgsl_states() {
    check(&[
        ("firstLeadingBit(zero)", u32::MAX),
        ("firstLeadingBit(zero + 5u)", 2),
        ("u32(firstLeadingBit(i32(zero) - 1))", u32::MAX),
        ("u32(firstLeadingBit(i32(zero) - 5))", 2),
        ("firstTrailingBit(zero)", u32::MAX),
        ("firstTrailingBit(zero + 8u)", 3),
        ("countLeadingZeros(zero)", 32),
        ("countTrailingZeros(zero)", 32),
        ("countOneBits(zero + 0xf0f0u)", 8),
        ("reverseBits(zero + 1u)", 0x8000_0000),
        ("extractBits(zero + 0xabcdu, 4u, 8u)", 0xbc),
        ("u32(extractBits(i32(zero) + 0xabcd, 4u, 8u))", 0xffff_ffbc),
        ("extractBits(zero + 0xabcdu, 4u, zero)", 0),
        ("extractBits(zero + 0xabcdu, zero + 40u, zero + 8u)", 0),
        ("extractBits(zero + 0xabcdu, zero, zero + 99u)", 0xabcd),
        ("insertBits(zero + 0xffffu, zero, 4u, 8u)", 0xf00f),
        ("insertBits(zero + 0xffffu, zero, zero + 40u, 8u)", 0xffff),
        ("insertBits(zero + 0xffffu, zero + 7u, zero, zero + 32u)", 7),
    ]);
}

#[test]
fn conversions_saturate() {
    check(&[
        ("u32(f32(zero) - 1.5)", 0),
        ("u32(5e9 + f32(zero))", u32::MAX),
        ("u32(i32(-5e9 + f32(zero)))", 0x8000_0000),
        ("u32(i32(f32(zero) - 1.5))", u32::MAX),
        ("u32(f32(zero) / f32(zero))", 0),
        ("bitcast<u32>(f32(zero + 1u))", 0x3f80_0000),
        ("u32(bool(zero + 2u))", 1),
        ("u32(round(f32(zero) + 2.5))", 2),
        ("u32(trunc(f32(zero) + 2.75))", 2),
        ("u32(4.0 * fract(f32(zero) - 0.25))", 3),
    ]);
}

#[test]
fn packed_words_are_as_wgsl_states() {
    check(&[
        ("pack4x8unorm(vec4f(f32(zero), 1.0, 2.0, 0.5))", 0x80ff_ff00),
        ("pack4x8snorm(vec4f(f32(zero), 1.0, -2.0, 0.5))", 0x4081_7f00),
        ("pack2x16float(vec2f(1.0 + f32(zero), -2.0))", 0xc000_3c00),
        ("pack2x16float(vec2f(5.9604645e-8 + f32(zero), 65504.0))", 0x7bff_0001),
        ("pack2x16float(unpack2x16float(zero + 0x8001abcdu))", 0x8001_abcd),
        ("pack4xU8(vec4u(1u, 258u, 3u, 4u) + zero)", 0x0403_0201),
        ("pack4xI8Clamp(vec4i(1, 258, -3, -400) + i32(zero))", 0x80fd_7f01),
        ("dot4U8Packed(0x01020304u + zero, 0x05060708u)", 70),
        ("u32(dot4I8Packed(0xff020304u + zero, 0x05060708u))", 60),
        ("u32(unpack4xI8(zero + 0xff00u).y)", u32::MAX),
    ]);
}

#[test]
fn an_index_beyond_the_end_means_the_last_element() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> words: array<u32>;
        var<private> row: array<u32, 3> = array(1u, 2u, 3u);
        fn f(index: u32) -> u32 {
            words[index] = words[index] + 10u;
            var pair = vec2(5u, 6u);
            pair[index] += 100u;
            let fixed = vec3(7u, 8u, 9u);
            return row[index] * 1000000u + (pair.x + pair.y) * 1000u + fixed[index] * 10u + arrayLength(&words);
        }";
    for code in &codes(text) {
        let mut words = [1_u32, 2, 3, 4];
        let mut block = fresh(code);
        // SAFETY: `words` lives as long as the block; one word more is not bound.
        let results = unsafe {
            block.bind(0, words.as_mut_ptr().cast(), 12);
            [0, 1, 2, 3, u64::from(u32::MAX)].map(|index| code.call(&mut block, 0, &[index]))
        };
        assert_eq!(results, [1_111_073, 2_111_083, 3_111_093, 3_111_093, 3_111_093]);
        assert_eq!(words, [11, 12, 33, 4]);
    }
}

#[test]
fn an_unbound_buffer_is_empty_zeros() {
    let text = "
        struct Head { count: u32, rows: array<vec2u> }
        @group(0) @binding(0) var<storage, read_write> head: Head;
        fn f(index: u32) -> u32 {
            let before = head.rows[index].y + head.count + arrayLength(&head.rows);
            head.rows[index] = vec2(1u, 2u);
            return before;
        }";
    for code in &codes(text) {
        let mut block = fresh(code);
        let mut short = [9_u32; 3];
        // SAFETY: `short` lives as long as the block, and the argument is a scalar.
        unsafe {
            assert_eq!(code.call(&mut block, 0, &[3]), 0);
            block.bind(0, short.as_mut_ptr().cast(), 12);
            code.call(&mut block, 0, &[3]);
        }
        assert_eq!(short, [9; 3], "memory shorter than the type is not bound");
    }
}

#[test]
fn structures_pass_by_address_and_pointers_reach_the_host() {
    let text = "
        struct Inner { a: vec3f, b: u32 }
        struct Outer { flag: u32, inner: array<Inner, 2> }
        fn f(outer: Outer, state: ptr<function, Outer>) -> Outer {
            var result = outer;
            result.inner[1].b += outer.flag;
            (*state).inner[0].a.y = outer.inner[1].a.z;
            return result;
        }";
    for code in &codes(text) {
        let mut outer = [0_u32; 12];
        outer[0] = 5;
        outer[10] = 3.0_f32.to_bits();
        outer[11] = 37;
        let (mut state, mut result) = ([0_u32; 12], [0_u32; 12]);
        let address = |words: &mut [u32; 12]| words.as_mut_ptr().expose_provenance() as u64;
        let arguments = [address(&mut outer), address(&mut state), address(&mut result)];
        // SAFETY: each address is of 48 bytes, the size of `Outer`.
        unsafe { code.call(&mut fresh(code), 0, &arguments) };
        assert_eq!(state[5], 3.0_f32.to_bits());
        outer[11] += 5;
        assert_eq!(result, outer);
    }
}

#[test]
fn loops_and_switches_take_the_stated_ways() {
    let text = "
        fn inner(n: u32, sum: ptr<function, u32>) -> bool {
            switch n {
                case 1u, 3u: { *sum += 100u; }
                case 2u: { if *sum > 50u { break; } *sum += 1u; }
                default: { return n > 6u; }
            }
            return false;
        }
        fn f(n: u32) -> u32 {
            var sum = 0u;
            var i = 0u;
            loop {
                var fresh: u32;
                fresh += i;
                if i == 5u { continue; }
                if inner(i, &sum) { return sum + fresh * 1000000u; }
                sum += 1000u;
                continuing { i += 1u; break if i >= n; }
            }
            for (var k = 0u; k < 3u; k++) { sum += k * 10000u; }
            while i > 0u { i -= 1u; sum += 100000u; }
            return sum;
        }";
    for code in &codes(text) {
        // SAFETY: the only argument is a scalar.
        let call = |n| unsafe { code.call(&mut fresh(code), 0, &[n]) };
        assert_eq!(call(1), 1000 + 30_000 + 100_000);
        assert_eq!(call(4), 4200 + 30_000 + 400_000);
        assert_eq!(call(100), 6200 + 7_000_000);
    }
}

#[test]
fn fuel_ends_endless_loops() {
    let text = "fn f(n: u32) -> u32 { var i = n; loop { i += 1u; if i == 0u { break; } } return i; }";
    for code in &codes(text) {
        let mut block = code.block();
        block.set_fuel(10);
        // SAFETY: the only argument is a scalar.
        assert_eq!(unsafe { code.call(&mut block, 0, &[0]) }, 10);
        assert!(block.fuel() < 0);
        block.set_fuel(10);
        // SAFETY: the only argument is a scalar.
        assert_eq!(unsafe { code.call(&mut block, 0, &[u64::from(u32::MAX)]) }, 0);
        assert_eq!(block.fuel(), 9);
    }
}

#[test]
fn matrices_multiply_by_columns() {
    check(&[
        ("u32((mat2x3f(1, 2, 3, 4, 5, 6) * vec2f(f32(zero) + 1, 2)).z)", 15),
        ("u32((vec3f(f32(zero) + 1, 2, 3) * mat2x3f(1, 2, 3, 4, 5, 6)).y)", 32),
        ("u32((mat2x2f(1, 2, 3, 4) * mat2x2f(f32(zero) + 5, 6, 7, 8))[0].y)", 34),
        ("u32((mat3x3f() + mat3x3f(1, 2, 3, 4, 5, 6, 7, 8, f32(zero) + 9))[2].z)", 9),
        ("u32((2 * mat2x3f(1, 2, 3, 4, 5, 6 + f32(zero)))[1].z)", 12),
        ("u32(transpose(mat2x3f(1, 2, 3, 4, 5, 6 + f32(zero)))[2].y)", 6),
        ("u32(determinant(mat3x3f(2, 0, 0, 0, 3, 0, 0, 0, 4 + f32(zero))))", 24),
        ("u32(determinant(mat2x2f(3, 1, 2, 4 + f32(zero))))", 10),
        ("u32(cross(vec3f(1, 2, 3 + f32(zero)), vec3f(4, 5, 7)).x + 1)", 0),
        ("u32(length(vec2f(3, 4 + f32(zero))))", 5),
        ("u32(distance(vec2f(3, 4 + f32(zero)), vec2f(0, 8)))", 5),
        ("u32(10 * normalize(vec2f(3, 4 + f32(zero))).y)", 8),
        ("u32(reflect(vec2f(1, f32(zero) - 1), vec2f(0, 1)).y)", 1),
        ("u32(-faceForward(vec2f(1, f32(zero) - 1), vec2f(0, 1), vec2f(0, 1)).x)", 1),
        ("u32(modf(f32(zero) + 3.5).whole + 2 * modf(f32(zero) + 3.5).fract)", 4),
        ("u32(frexp(f32(zero) + 12).exp) + u32(4 * frexp(f32(zero) + 12).fract)", 7),
        ("u32(ldexp(f32(zero) + 3, 4))", 48),
    ]);
}

#[test]
fn atomics_return_the_old_value() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> words: array<atomic<u32>>;
        fn f(n: u32) -> u32 {
            let a = atomicAdd(&words[0], n);
            let b = atomicMax(&words[1], n);
            let c = atomicCompareExchangeWeak(&words[2], 3u, n);
            let d = atomicCompareExchangeWeak(&words[2], 3u, 0u);
            let e = atomicExchange(&words[3], n);
            atomicStore(&words[4], atomicLoad(&words[3]) + 1u);
            return a + 10u * b + 100u * c.old_value + select(0u, 1000u, c.exchanged)
                + select(0u, 5000u, d.exchanged) + 10000u * e;
        }";
    for code in &codes(text) {
        let mut words = [1_u32, 2, 3, 4, 5];
        let mut block = fresh(code);
        // SAFETY: `words` lives as long as the block.
        let result = unsafe {
            block.bind(0, words.as_mut_ptr().cast(), 20);
            code.call(&mut block, 0, &[9])
        };
        assert_eq!((result, words), (41_321, [10, 9, 9, 9, 10]));
    }
}

#[test]
fn integers_of_64_bits_keep_all_of_them() {
    let text = "
        fn f(a: u64, b: i64) -> u64 {
            let c = a * 3lu + u64(b);
            return (c >> 7u) ^ u64(i64(c) / -5li) ^ u64(u32(c));
        }";
    for code in &codes(text) {
        let (a, b) = (0x0123_4567_89ab_cdef_u64, -77_i64);
        let c = a.wrapping_mul(3).wrapping_add(b as u64);
        let expected = (c >> 7) ^ (c as i64 / -5) as u64 ^ u64::from(c as u32);
        // SAFETY: the arguments are scalars.
        assert_eq!(unsafe { code.call(&mut fresh(code), 0, &[a, b as u64]) }, expected);
    }
}

#[test]
fn what_does_not_fit_a_stack_is_refused() {
    let text = "\nfn f(i: u32) -> u32 { var a: array<array<u32, 4000000>, 2>; return a[1][i]; }";
    for engine in engines() {
        let error = Code::new(text, &["f"], engine).unwrap_err();
        assert_eq!(error.line, 2, "{error}");
    }
}
