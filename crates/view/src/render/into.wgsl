// Into a picture that no window shows: a compute pass, see light.wgsl.
@group(0) @binding(1) var picture: texture_storage_2d<rgba8unorm, write>;

// sRGB, IEC 61966-2-1.
fn encoded(color: vec3f) -> vec3f {
    let clamped = clamp(color, vec3f(), vec3f(1.0));
    return select(1.055 * pow(clamped, vec3f(1.0 / 2.4)) - 0.055, 12.92 * clamped, clamped <= vec3f(0.0031308));
}

@compute @workgroup_size(8, 8)
fn into(@builtin(global_invocation_id) id: vec3u) {
    if all(id.xy < textureDimensions(picture)) {
        textureStore(picture, id.xy, vec4f(encoded(resolved(vec2i(id.xy)).rgb), 1.0));
    }
}
