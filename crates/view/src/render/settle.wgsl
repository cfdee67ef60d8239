// Results of splat.wgsl.
@group(0) @binding(1) var<storage, read> depths: array<u32>;
@group(0) @binding(2) var<storage, read> marks: array<u32>;
@group(0) @binding(3) var<storage, read> palette: array<u32>;
@group(0) @binding(4) var colors: texture_storage_2d<rgba16float, write>;
@group(0) @binding(5) var surfaces: texture_storage_2d<rg32uint, write>;

// Writes the spheres, and zeros elsewhere: clearing images as render targets takes longer on cards with few units for that.
@compute @workgroup_size(8, 8)
fn settle(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy;
    if any(pixel >= vec2u(view.size)) {
        return;
    }
    let place = pixel.y * u32(view.size.x) + pixel.x;
    let nearness = bitcast<f32>(depths[place]);
    if nearness == 0.0 {
        textureStore(colors, pixel, vec4f());
        textureStore(surfaces, pixel, vec4u());
        return;
    }
    let mark = marks[place];
    let tilt = vec2f(f32((mark >> 12u) & 4095u), f32(mark & 4095u)) / 4095.0 * 2.0 - 1.0;
    let color = unpack4x8unorm(palette[mark >> 24u]);
    textureStore(colors, pixel, vec4f(linear(color.rgb), 1.0));
    textureStore(surfaces, pixel, vec4u(bitcast<u32>(view.near / nearness), pack2x16snorm(tilt), 0u, 0u));
}
