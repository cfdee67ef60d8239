// Center and radius of each.
@group(1) @binding(0) var<storage, read> balls: array<vec4f>;
// Place in the palette, four to a word.
@group(1) @binding(1) var<storage, read> shades: array<u32>;

// Whether these are particles of fluids that shall become a surface, for which they are drawn larger than they are.
override IS_WATER: bool;

fn sphere_of(ball: vec4f) -> vec4f {
    return vec4f(seen(ball.xyz), ball.w * select(1.0, view.swell.y, IS_WATER));
}

// What is not a number is not in front of the camera either, and a radius below 0 is that of what is not drawn.
fn is_seen(ball: vec4f, sphere: vec4f) -> bool {
    return ball.w > 0.0 && sphere.z - sphere.w > view.near && !is_cut(ball.xyz);
}

fn shade_of(index: u32) -> u32 {
    return (shades[index / 4u] >> (8u * (index % 4u))) & 255u;
}

struct Strike {
    // Along the optical axis; 0 where the ray passes by.
    depth: f32,
    normal: vec3f,
}

// Where a ray from the eye towards a point strikes a sphere.
fn strike(sphere: vec4f, toward: vec3f) -> Strike {
    let ray = normalize(toward);
    let along = dot(sphere.xyz, ray);
    let miss = sphere.xyz - along * ray;
    let inside = sphere.w * sphere.w - dot(miss, miss);
    if inside < 0.0 {
        return Strike(0.0, vec3f());
    }
    let half_chord = sqrt(inside);
    return Strike((along - half_chord) * ray.z, -(miss + half_chord * ray) / sphere.w);
}
