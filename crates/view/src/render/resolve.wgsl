@group(0) @binding(0) var image: texture_2d<f32>;

// Pixels drawn per pixel of the picture along each side.
override DETAIL: i32;

// Mean of the drawn pixels of one picture pixel.
fn resolved(pixel: vec2i) -> vec4f {
    var sum = vec4f();
    for (var y = 0; y < DETAIL; y++) {
        for (var x = 0; x < DETAIL; x++) {
            sum += textureLoad(image, DETAIL * pixel + vec2i(x, y), 0);
        }
    }
    return sum / f32(DETAIL * DETAIL);
}

// sRGB, IEC 61966-2-1.
fn encoded(color: vec3f) -> vec3f {
    let clamped = clamp(color, vec3f(), vec3f(1.0));
    return select(1.055 * pow(clamped, vec3f(1.0 / 2.4)) - 0.055, 12.92 * clamped, clamped <= vec3f(0.0031308));
}
