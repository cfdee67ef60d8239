struct Varying {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) @interpolate(flat) face: vec3f,
    @location(2) normal: vec3f,
    @location(3) color: vec3f,
}

// A triangle as a strip of four vertices; the last one repeats the third.
@vertex
fn place(
    @builtin(vertex_index) corner: u32,
    @location(0) a: vec3f,
    @location(1) b: vec3f,
    @location(2) c: vec3f,
    @location(3) normal_a: vec3f,
    @location(4) normal_b: vec3f,
    @location(5) normal_c: vec3f,
    @location(6) color_a: vec4f,
    @location(7) color_b: vec4f,
    @location(8) color_c: vec4f,
) -> Varying {
    let corners = array(seen(a), seen(b), seen(c));
    let face = normalize(cross(corners[1] - corners[0], corners[2] - corners[0]));
    if is_cut((a + b + c) / 3.0) {
        return Varying(NOWHERE, vec3f(), face, vec3f(), vec3f());
    }
    if corner == 0u {
        return Varying(project(corners[0]), corners[0], face, turned(normal_a), linear(color_a.rgb));
    }
    if corner == 1u {
        return Varying(project(corners[1]), corners[1], face, turned(normal_b), linear(color_b.rgb));
    }
    return Varying(project(corners[2]), corners[2], face, turned(normal_c), linear(color_c.rgb));
}

struct Hit {
    @location(0) color: vec4f,
    @location(1) surface: vec2u,
}

@fragment
fn hit(in: Varying) -> Hit {
    if is_hidden(in.position, in.position.z) {
        discard;
    }
    // Both sides are visible: the normal is that of the side that faces the eye.
    let seen = select(in.face, -in.face, dot(in.face, in.point) > 0.0);
    let normal = normalize(select(in.normal, -in.normal, dot(in.normal, seen) < 0.0));
    return Hit(vec4f(in.color, 1.0), vec2u(bitcast<u32>(in.point.z), pack2x16snorm(normal.xy)));
}
