// Center and radius of each.
@group(1) @binding(0) var<storage, read> balls: array<vec4f>;
// Place in the palette, four to a word; or numbers on a scale, one to a word.
@group(1) @binding(1) var<storage, read> shades: array<u32>;
@group(1) @binding(2) var<storage, read> palette: array<u32>;

// As many shades as a scale has, and the place of what has no number.
override SCALE: f32;
override OTHERS: u32;
// Whether shades are numbers.
override IS_NUMBER: bool;
// Whether these are particles of fluids that shall become a surface, for which they are drawn larger than they are.
override IS_WATER: bool;

struct Varying {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) @interpolate(flat) sphere: vec4f,
    @location(2) @interpolate(flat) color: vec3f,
}

fn shade_of(index: u32) -> u32 {
    if !IS_NUMBER {
        return (shades[index / 4u] >> (8u * (index % 4u))) & 255u;
    }
    let bits = shades[index];
    if (bits & 0x7fffffffu) > 0x7f800000u {
        return OTHERS;
    }
    return u32(clamp((bitcast<f32>(bits) - view.scale.x) * view.scale.y, 0.0, SCALE - 1.0) + 0.5);
}

// A square around the cone in which the eye sees the sphere.
@vertex
fn place(@builtin(vertex_index) corner: u32, @builtin(instance_index) index: u32) -> Varying {
    let ball = balls[index];
    let sphere = vec4f(seen(ball.xyz), ball.w * select(1.0, view.swell.y, IS_WATER));
    // What is not a number is not in front of the camera either.
    if !(sphere.z - sphere.w > view.near) || is_cut(ball.xyz) {
        return Varying(NOWHERE, vec3f(), sphere, vec3f());
    }
    let color = unpack4x8unorm(palette[shade_of(index)]);
    let distance = length(sphere.xyz);
    let axis = sphere.xyz / distance;
    let side = normalize(cross(axis, vec3f(0.0, 1.0, 0.0)));
    let above = cross(side, axis);
    let radius = sphere.w / sqrt(1.0 - min(sphere.w * sphere.w / (distance * distance), 0.99));
    let place = vec2f(f32(corner & 1u), f32(corner >> 1u)) * 2.0 - 1.0;
    let point = sphere.xyz + radius * (place.x * side + place.y * above);
    return Varying(project(point), point, sphere, linear(color.rgb));
}

struct Hit {
    @location(0) color: vec4f,
    @location(1) surface: vec2u,
    @builtin(frag_depth) depth: f32,
}

@fragment
fn hit(in: Varying) -> Hit {
    let ray = normalize(in.point);
    let along = dot(in.sphere.xyz, ray);
    let miss = in.sphere.xyz - along * ray;
    let inside = in.sphere.w * in.sphere.w - dot(miss, miss);
    if inside < 0.0 {
        discard;
    }
    let half_chord = sqrt(inside);
    let depth = (along - half_chord) * ray.z;
    let normal = -(miss + half_chord * ray) / in.sphere.w;
    return Hit(vec4f(in.color, 1.0), vec2u(bitcast<u32>(depth), pack2x16snorm(normal.xy)), view.near / depth);
}
