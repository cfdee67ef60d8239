struct Varying {
    @builtin(position) position: vec4f,
    @location(0) @interpolate(linear) across: f32,
}

// A line of constant width between two points, clipped at the near plane.
@vertex
fn place(@builtin(vertex_index) corner: u32, @location(0) first: vec3f, @location(1) second: vec3f) -> Varying {
    let start = project(mix(first, second, clamp((view.near - first.z) / (second.z - first.z), 0.0, 1.0) * f32(first.z < view.near)));
    let end = project(mix(second, first, clamp((view.near - second.z) / (first.z - second.z), 0.0, 1.0) * f32(second.z < view.near)));
    let along = (end.xy / end.w - start.xy / start.w) * view.size;
    let across = vec2f(-along.y, along.x) / max(length(along), 1e-6);
    let here = select(start, end, (corner & 1u) == 1u);
    let sign = f32(corner >> 1u) * 2.0 - 1.0;
    let offset = across * sign * (view.line + 1.0) * 2.0 / view.size;
    // Slightly towards the eye, so that touching grains do not hide an edge.
    return Varying(vec4f(here.xy + offset * here.w, here.z * view.edge.a, here.w), sign * (view.line + 1.0));
}

@fragment
fn tint(in: Varying) -> @location(0) vec4f {
    let cover = clamp(view.line + 0.5 - abs(in.across), 0.0, 1.0);
    return vec4f(linear(view.edge.rgb), sight(in.position) * 0.6 * cover);
}
