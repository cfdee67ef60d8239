// Whether the window shows stored values unchanged; they must then be sRGB.
override IS_PLAIN: bool;

// Writes the picture of a window.
@fragment
fn onto(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let color = resolved(vec2i(at.xy)).rgb;
    return vec4f(select(color, encoded(color), IS_PLAIN), 1.0);
}
