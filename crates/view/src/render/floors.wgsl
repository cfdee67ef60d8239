struct Varying {
    @builtin(position) position: vec4f,
    @location(0) place: vec3f,
}

// Grid position: two coordinates in the plane, with 1 at the edge of the grains, and the number of grid squares per unit.
@vertex
fn place(@location(0) point: vec3f, @location(1) place: vec3f) -> Varying {
    return Varying(project(point), place);
}

// A grid that fades out away from the grains.
@fragment
fn tint(in: Varying) -> @location(0) vec4f {
    let grid = in.place.xy * in.place.z;
    let width = max(fwidth(grid), vec2f(1e-6));
    let gap = abs(fract(grid + 0.5) - 0.5) / width;
    let line = clamp(view.line + 0.5 - min(gap.x, gap.y), 0.0, 1.0) * (1.0 - smoothstep(0.2, 0.6, max(width.x, width.y)));
    let fade = 1.0 - smoothstep(0.75, 1.5, length(in.place.xy));
    return vec4f(linear(view.edge.rgb), sight(in.position) * fade * (0.05 + 0.24 * line));
}
