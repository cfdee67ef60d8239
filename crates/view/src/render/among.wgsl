// Nearness of the spheres in each pixel, see splat.wgsl.
@group(0) @binding(3) var<storage, read> spheres: array<u32>;

// Whether a sphere lies in front of a fragment.
fn is_hidden(position: vec4f, nearness: f32) -> bool {
    return bitcast<u32>(nearness) <= spheres[u32(position.y) * u32(view.size.x) + u32(position.x)];
}
