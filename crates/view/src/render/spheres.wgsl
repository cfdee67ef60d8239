@group(1) @binding(2) var<storage, read> palette: array<u32>;
// Indices of the spheres that cover many pixels.
@group(1) @binding(3) var<storage, read> large: array<u32>;

struct Varying {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) @interpolate(flat) sphere: vec4f,
    @location(2) @interpolate(flat) color: vec3f,
}

// A square around the cone in which the eye sees the sphere.
@vertex
fn place(@builtin(vertex_index) corner: u32, @builtin(instance_index) instance: u32) -> Varying {
    let index = large[instance];
    let sphere = sphere_of(balls[index]);
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
    let found = strike(in.sphere, in.point);
    let nearness = view.near / found.depth;
    if found.depth == 0.0 || is_hidden(in.position, nearness) {
        discard;
    }
    return Hit(vec4f(in.color, 1.0), vec2u(bitcast<u32>(found.depth), pack2x16snorm(found.normal.xy)), nearness);
}
