// What splat.wgsl found.
@group(0) @binding(1) var<storage, read> depths: array<u32>;
@group(0) @binding(2) var<storage, read> marks: array<u32>;
@group(0) @binding(3) var<storage, read> palette: array<u32>;

struct Hit {
    @location(0) color: vec4f,
    @location(1) surface: vec2u,
    @builtin(frag_depth) depth: f32,
}

@fragment
fn settle(@builtin(position) at: vec4f) -> Hit {
    let pixel = vec2u(at.xy);
    let place = pixel.y * u32(view.size.x) + pixel.x;
    let nearness = bitcast<f32>(depths[place]);
    if nearness == 0.0 {
        discard;
    }
    let mark = marks[place];
    let tilt = vec2f(f32((mark >> 12u) & 4095u), f32(mark & 4095u)) / 4095.0 * 2.0 - 1.0;
    let color = unpack4x8unorm(palette[mark >> 24u]);
    return Hit(vec4f(linear(color.rgb), 1.0), vec2u(bitcast<u32>(view.near / nearness), pack2x16snorm(tilt)), nearness);
}
