// Draws the LPs of a simulation, one square for each, from the buffer of their states. An
// invocation is a pixel.

struct Look {
    side: u32,     // LPs in a row
    stride: u32,   // words of a state
    word: u32,     // the word that is drawn
    is_time: u32,  // whether it is a time: then the time since it is drawn
    now: u32,      // the low word of the current time
    scale: f32,    // the value that is drawn brightest
    unused_a: u32,
    unused_b: u32,
}

@group(0) @binding(0) var<uniform> look: Look;
@group(0) @binding(1) var<storage, read> states: array<u32>;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec2<f32>, // 0 to 1 over the canvas
}

// One triangle that covers the canvas.
@vertex
fn corner(@builtin(vertex_index) index: u32) -> Corner {
    let place = vec2<f32>(f32(index & 1u) * 2.0, f32(index >> 1u) * 2.0);
    return Corner(vec4<f32>(place.x * 2.0 - 1.0, 1.0 - place.y * 2.0, 0.0, 1.0), place);
}

@fragment
fn colour(corner: Corner) -> @location(0) vec4<f32> {
    let at = vec2<u32>(clamp(corner.place, vec2<f32>(0.0), vec2<f32>(0.9999)) * f32(look.side));
    let found = states[(at.y * look.side + at.x) * look.stride + look.word];
    if look.is_time == 1u {
        // Bright if an event has just been executed.
        let gone = f32(look.now - found) / look.scale;
        let light = exp(-gone);
        return vec4<f32>(0.05 + 0.9 * light, 0.09 + 0.6 * light * light, 0.2 + 0.3 * light, 1.0);
    }
    // From dark blue over teal to yellow.
    let level = clamp(f32(found) / look.scale, 0.0, 1.0);
    let low = vec3<f32>(0.07, 0.10, 0.25);
    let middle = vec3<f32>(0.10, 0.55, 0.55);
    let high = vec3<f32>(0.99, 0.86, 0.25);
    let shade = select(mix(middle, high, level * 2.0 - 1.0), mix(low, middle, level * 2.0), level < 0.5);
    return vec4<f32>(shade, 1.0);
}
