struct Varying {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) @interpolate(flat) sphere: vec4f,
    @location(2) @interpolate(flat) color: vec3f,
}

// A square around the cone in which the eye sees the sphere.
@vertex
fn place(@builtin(vertex_index) corner: u32, @location(0) sphere: vec4f, @location(1) color: vec4f) -> Varying {
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
