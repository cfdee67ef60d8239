// Palette indices from the values of spheres, as `shade_of` in coloring.rs.
@group(0) @binding(0) var<uniform> ends: vec4f;
@group(0) @binding(1) var<storage, read> values: array<f32>;
// Four indices per word.
@group(0) @binding(2) var<storage, read_write> shades: array<u32>;

override LAST: f32;
override OTHERS: u32;

fn shade_of(value: f32) -> u32 {
    // NaN, tested by its bits: a compiler may assume that comparisons see no NaN.
    if (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u {
        return OTHERS;
    }
    return u32(round(clamp((value - ends.x) / (ends.y - ends.x), 0.0, 1.0) * LAST));
}

@compute @workgroup_size(256)
fn shade(@builtin(global_invocation_id) id: vec3u) {
    let count = arrayLength(&values);
    if 4u * id.x >= count {
        return;
    }
    var word = 0u;
    for (var k = 0u; k < min(4u, count - 4u * id.x); k++) {
        word |= shade_of(values[4u * id.x + k]) << (8u * k);
    }
    shades[id.x] = word;
}
