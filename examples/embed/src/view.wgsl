// Draws the stations of a torus, coloured by their numbers of customers, directly from the
// simulation's states, and a caption. One triangle covers the target; each pixel looks up its
// station.

struct View {
    origin: vec2<f32>,      // the station at the centre
    centre: vec2<f32>,      // the pixel of the centre
    stations: vec2<u32>,    // columns, rows
    per_pixel: f32,         // stations per pixel
    full: f32,              // customers of the brightest colour
    caption: vec2<u32>,     // size in pixels
}

// The model's state, as in shaders/models/torus.wgsl and shaders/statistics/time_average.wgsl.
struct State {
    number: TimeAverage,
    busy: TimeAverage,
    served: vec2<u32>,
    unused: vec2<u32>,
}

struct TimeAverage {
    area: vec4<u32>,
    since: vec2<u32>,
    changed: vec2<u32>,
    level: u32,
    minimum: u32,
    maximum: u32,
    unused: u32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> states: array<State>;
@group(0) @binding(2) var caption: texture_2d<f32>;

@vertex
fn cover(@builtin(vertex_index) corner: u32) -> @builtin(position) vec4<f32> {
    let place = vec2<f32>(f32((corner << 1u) & 2u), f32(corner & 2u));
    return vec4<f32>(place * 2.0 - 1.0, 0.0, 1.0);
}

@fragment
fn paint(@builtin(position) pixel: vec4<f32>) -> @location(0) vec4<f32> {
    let at = view.origin + (pixel.xy - view.centre) * view.per_pixel;
    // The torus repeats at its edges.
    let size = vec2<f32>(view.stations);
    let station = min(vec2<u32>(at - floor(at / size) * size), view.stations - 1u);
    let level = states[station.y * view.stations.x + station.x].number.level;
    let colour = heat(min(f32(level) / view.full, 1.0));
    if any(vec2<u32>(pixel.xy) >= view.caption) { return vec4<f32>(colour, 1.0); }
    let ink = textureLoad(caption, vec2<u32>(pixel.xy), 0).r;
    return vec4<f32>(mix(colour * 0.25, vec3<f32>(1.0), ink), 1.0);
}

// Dark blue, violet, orange, pale yellow, with rising brightness.
fn heat(share: f32) -> vec3<f32> {
    let dark = vec3<f32>(0.02, 0.02, 0.12);
    let low = vec3<f32>(0.35, 0.07, 0.43);
    let high = vec3<f32>(0.91, 0.35, 0.18);
    let bright = vec3<f32>(0.99, 0.97, 0.65);
    if share < 0.33 { return mix(dark, low, share / 0.33); }
    if share < 0.67 { return mix(low, high, (share - 0.33) / 0.34); }
    return mix(high, bright, (share - 0.67) / 0.33);
}
