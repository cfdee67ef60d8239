// Camera parameters for all passes. View coordinates: x right, y up, z depth along the optical axis.
struct View {
    right: vec4f,      // axes of the camera, and an offset to add to each: positions count from the middle of the scene
    up: vec4f,
    forward: vec4f,
    focal: vec2f,      // clip units per unit of tangent
    shift: vec2f,      // clip position of the optical axis
    size: vec2f,       // of the target, pixels
    near: f32,
    line: f32,         // half width of an edge, pixels
    occlusion: vec2f,  // smallest and largest reach of the occlusion
    swell: vec2f,      // radius of fluid particles as they are drawn, and its ratio to their own radius
    cut: vec4f,        // normal and distance of a clip plane beyond which nothing is drawn; a zero normal clips nothing
    sky: vec4f,
    ground: vec4f,
    wall: vec4f,
    edge: vec4f,       // and the factor of nearness by which edges are drawn in front of touching grains
}
@group(0) @binding(0) var<uniform> view: View;

fn seen(place: vec3f) -> vec3f {
    return turned(place) + vec3f(view.right.w, view.up.w, view.forward.w);
}

fn turned(direction: vec3f) -> vec3f {
    return vec3f(dot(view.right.xyz, direction), dot(view.up.xyz, direction), dot(view.forward.xyz, direction));
}

fn is_cut(place: vec3f) -> bool {
    return dot(view.cut.xyz, place) > view.cut.w;
}

// A position outside of the picture.
const NOWHERE: vec4f = vec4f(0.0, 0.0, -1.0, 1.0);

// Reverse infinite depth: near / z is accurate at every distance.
fn project(point: vec3f) -> vec4f {
    return vec4f(view.focal * point.xy + view.shift * point.z, view.near, point.z);
}

fn linear(color: vec3f) -> vec3f {
    return select(pow((color + 0.055) / 1.055, vec3f(2.4)), color / 12.92, color <= vec3f(0.04045));
}
