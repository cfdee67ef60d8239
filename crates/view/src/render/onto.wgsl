// Whether what a window shows is stored as it is: then it has to be in sRGB already.
override IS_PLAIN: bool;

// Onto what a window shows.
@fragment
fn onto(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let color = resolved(vec2i(at.xy)).rgb;
    return vec4f(select(color, encoded(color), IS_PLAIN), 1.0);
}
