// Center and radius of each sphere.
@group(1) @binding(0) var<storage, read> balls: array<vec4f>;
// Palette indices, four per word.
@group(1) @binding(1) var<storage, read> shades: array<u32>;

// Whether these are fluid particles that form a surface; they are drawn enlarged.
override IS_WATER: bool;

fn sphere_of(ball: vec4f) -> vec4f {
    return vec4f(seen(ball.xyz), ball.w * select(1.0, view.swell.y, IS_WATER));
}

// NaN fails the comparison, too; a negative radius marks a sphere that is not drawn.
fn is_seen(ball: vec4f, sphere: vec4f) -> bool {
    return ball.w > 0.0 && sphere.z - sphere.w > view.near && !is_cut(ball.xyz);
}

fn shade_of(index: u32) -> u32 {
    return (shades[index / 4u] >> (8u * (index % 4u))) & 255u;
}

struct Strike {
    // Along the optical axis; 0 if the ray misses.
    depth: f32,
    normal: vec3f,
}

// Intersection of a sphere with a ray from the eye through a point.
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
