// Writes an offscreen picture: a compute pass, see light.wgsl.
@group(0) @binding(1) var picture: texture_storage_2d<rgba8unorm, write>;

@compute @workgroup_size(8, 8)
fn into(@builtin(global_invocation_id) id: vec3u) {
    if all(id.xy < textureDimensions(picture)) {
        textureStore(picture, id.xy, vec4f(encoded(resolved(vec2i(id.xy)).rgb), 1.0));
    }
}
