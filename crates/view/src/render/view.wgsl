// What every pass knows of the camera. View coordinates: x right, y up, z depth along the optical axis.
struct View {
    focal: vec2f,      // clip units per unit of tangent
    shift: vec2f,      // clip position of the optical axis
    size: vec2f,       // of the target, pixels
    near: f32,
    line: f32,         // half width of an edge, pixels
    occlusion: vec2f,  // smallest and largest reach of the occlusion
    sky: vec4f,
    ground: vec4f,
    wall: vec4f,
    edge: vec4f,
}
@group(0) @binding(0) var<uniform> view: View;

// Reverse, unbounded depth: near / z keeps its digits at every distance.
fn project(point: vec3f) -> vec4f {
    return vec4f(view.focal * point.xy + view.shift * point.z, view.near, point.z);
}

fn linear(color: vec3f) -> vec3f {
    return select(pow((color + 0.055) / 1.055, vec3f(2.4)), color / 12.92, color <= vec3f(0.04045));
}
