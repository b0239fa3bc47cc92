//! Order-preserving maps between `i32`, `f32` and `u32`: the reference implementation of
//! `shaders/primitives/keys.wgsl`.

/// Maps `value` to a `u32` with the same order.
pub const fn key_from_i32(value: i32) -> u32 {
    value.cast_unsigned() ^ 0x8000_0000
}

/// The inverse of [`key_from_i32`].
pub const fn i32_from_key(key: u32) -> i32 {
    (key ^ 0x8000_0000).cast_signed()
}

/// Maps `value` to a `u32` with the order of [`f32::total_cmp`]: -NaN < -∞ < … < -0 < +0 < … < ∞ <
/// NaN.
pub const fn key_from_f32(value: f32) -> u32 {
    let bits = value.to_bits();
    bits ^ if bits >> 31 != 0 { 0xffff_ffff } else { 0x8000_0000 }
}

/// The inverse of [`key_from_f32`].
pub const fn f32_from_key(key: u32) -> f32 {
    f32::from_bits(key ^ if key >> 31 != 0 { 0x8000_0000 } else { 0xffff_ffff })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_keep_the_order_and_come_back(a: u32, b: u32) {
            let (i, j) = (a.cast_signed(), b.cast_signed());
            prop_assert_eq!(i.cmp(&j), key_from_i32(i).cmp(&key_from_i32(j)));
            prop_assert_eq!(i32_from_key(key_from_i32(i)), i);
            let (x, y) = (f32::from_bits(a), f32::from_bits(b));
            prop_assert_eq!(x.total_cmp(&y), key_from_f32(x).cmp(&key_from_f32(y)));
            prop_assert_eq!(f32_from_key(key_from_f32(x)).to_bits(), a);
        }
    }

    #[test]
    fn the_special_values_are_in_order() {
        let values =
            [f32::NEG_INFINITY, f32::MIN, -1e-45, -0.0, 0.0, 1e-45, f32::MAX, f32::INFINITY, f32::NAN];
        assert!(values.windows(2).all(|pair| key_from_f32(pair[0]) < key_from_f32(pair[1])));
    }
}
