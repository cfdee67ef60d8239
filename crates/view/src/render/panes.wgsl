struct Varying {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) @interpolate(flat) normal: vec3f,
    @location(2) @interpolate(flat) color: vec3f,
}

// A triangle as a strip whose last corner is the third again.
@vertex
fn place(
    @builtin(vertex_index) corner: u32,
    @location(0) a: vec3f,
    @location(1) b: vec3f,
    @location(2) c: vec3f,
    @location(3) color: vec4f,
) -> Varying {
    var point = c;
    if corner == 0u {
        point = a;
    } else if corner == 1u {
        point = b;
    }
    let normal = normalize(cross(b - a, c - a));
    return Varying(project(point), point, normal, linear(color.rgb));
}

struct Hit {
    @location(0) color: vec4f,
    @location(1) surface: vec2u,
}

@fragment
fn hit(in: Varying) -> Hit {
    // Both sides show, and the one that is seen faces the eye.
    let normal = select(in.normal, -in.normal, dot(in.normal, in.point) > 0.0);
    return Hit(vec4f(in.color, 1.0), vec2u(bitcast<u32>(in.point.z), pack2x16snorm(normal.xy)));
}
