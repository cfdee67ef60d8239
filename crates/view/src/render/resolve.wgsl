@group(0) @binding(0) var image: texture_2d<f32>;

// The mean of the four pixels that make one of the picture.
@fragment
fn average(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let corner = 2 * vec2i(at.xy);
    return 0.25 * (textureLoad(image, corner, 0) + textureLoad(image, corner + vec2i(1, 0), 0)
        + textureLoad(image, corner + vec2i(0, 1), 0) + textureLoad(image, corner + vec2i(1, 1), 0));
}

@fragment
fn as_it_is(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return textureLoad(image, vec2i(at.xy), 0);
}
