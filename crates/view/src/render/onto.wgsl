// Onto what a window shows.
@fragment
fn onto(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return resolved(vec2i(at.xy));
}
