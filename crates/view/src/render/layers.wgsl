@group(0) @binding(1) var surfaces: texture_2d<u32>;

// 1 where a translucent layer lies in front of the solids, else 0.
fn sight(position: vec4f) -> f32 {
    let depth = textureLoad(surfaces, vec2i(position.xy), 0).x;
    return f32(depth == 0u || position.z > view.near / bitcast<f32>(depth));
}
