struct Varying {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) normal: vec3f,
}

@vertex
fn place(@location(0) point: vec3f, @location(1) normal: vec3f) -> Varying {
    return Varying(project(point), point, normal);
}

// Like thin glass: faces towards the eye let the grains through, oblique faces show the shape.
@fragment
fn tint(in: Varying) -> @location(0) vec4f {
    let normal = normalize(in.normal);
    let facing = abs(dot(normal, normalize(in.point)));
    let opacity = mix(0.40, 0.07, smoothstep(0.0, 0.7, facing));
    let shade = 0.85 + 0.25 * abs(normal.y);
    return vec4f(linear(view.wall.rgb) * shade, sight(in.position) * opacity);
}
