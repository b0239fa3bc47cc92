//! A line of text as pixels, in the bundled font.

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use glam::UVec2;

/// Of the texture with the text.
pub(crate) const SIZE: UVec2 = UVec2::new(720, 28);
const HEIGHT: f32 = 18.0;
const MARGIN: f32 = 8.0;

/// The ink of each pixel, row by row.
pub(crate) fn pixels(text: &str) -> Vec<u8> {
    let font = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT)
        .expect("the font that comes with the crate");
    let scaled = font.as_scaled(PxScale::from(HEIGHT));
    let mut ink = vec![0; (SIZE.x * SIZE.y) as usize];
    let mut pen = point(MARGIN, MARGIN / 2.0 + scaled.ascent());
    for letter in text.chars() {
        let glyph = scaled.glyph_id(letter).with_scale_and_position(HEIGHT, pen);
        pen.x += scaled.h_advance(glyph.id);
        let Some(outline) = font.outline_glyph(glyph) else { continue };
        let corner = outline.px_bounds().min;
        outline.draw(|x, y, cover| {
            let place = UVec2::new(corner.x.max(0.0) as u32 + x, corner.y.max(0.0) as u32 + y);
            if place.cmplt(SIZE).all() {
                ink[(place.y * SIZE.x + place.x) as usize] = (cover.clamp(0.0, 1.0) * 255.0) as u8;
            }
        });
    }
    ink
}
