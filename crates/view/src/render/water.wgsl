@group(0) @binding(1) var colors: texture_2d<f32>;
@group(0) @binding(2) var surfaces: texture_2d<u32>;

// Direction of the picture along which depths are smoothed.
override IS_UPRIGHT: bool;

// Most pixels on either side for the smoothing of a depth.
const MOST: f32 = 40.0;

struct Smooth {
    @location(0) color: vec4f,
    @location(1) surface: vec2u,
}

// Depth of the fluid in this pixel; 0 where there is none.
fn depth_at(pixel: vec2i) -> f32 {
    if any(pixel < vec2i(0)) || any(pixel >= vec2i(view.size)) {
        return 0.0;
    }
    return bitcast<f32>(textureLoad(surfaces, pixel, 0).x);
}

// Fluid much farther away counts as if it were slightly behind, and fluid in front does not count, so that drops keep their outlines (the
// narrow-range filter of [Truong 2018], one direction after the other).
@fragment
fn smoothed(@builtin(position) at: vec4f) -> Smooth {
    let pixel = vec2i(at.xy);
    let depth = depth_at(pixel);
    if depth == 0.0 {
        return Smooth(vec4f(), vec2u());
    }
    let step = select(vec2i(1, 0), vec2i(0, 1), IS_UPRIGHT);
    let reach = clamp(3.0 * view.swell.x / depth * 0.5 * view.focal.y * view.size.y, 1.0, MOST);
    var sum = depth;
    var weights = 1.0;
    var color = textureLoad(colors, pixel, 0).rgb;
    for (var i = 1; i <= i32(reach); i++) {
        let pair = vec2f(depth_at(pixel + i * step), depth_at(pixel - i * step));
        // Only pairs from both sides count, so that an edge is not tilted by smoothing.
        if min(pair.x, pair.y) == 0.0 || min(pair.x, pair.y) < depth - 6.0 * view.swell.x {
            continue;
        }
        let weight = exp(-4.5 * f32(i * i) / (reach * reach));
        let near = min(pair, vec2f(depth + view.swell.x));
        sum += weight * (near.x + near.y);
        weights += 2.0 * weight;
        color += weight * (textureLoad(colors, pixel + i * step, 0).rgb + textureLoad(colors, pixel - i * step, 0).rgb);
    }
    return Smooth(vec4f(color / weights, 1.0), vec2u(bitcast<u32>(sum / weights), 0u));
}

struct Hit {
    @location(0) color: vec4f,
    @location(1) surface: vec2u,
    @builtin(frag_depth) depth: f32,
}

fn point_at(pixel: vec2i, depth: f32) -> vec3f {
    let middle = vec2f(pixel) + 0.5;
    let clip = vec2f(middle.x / view.size.x * 2.0 - 1.0, 1.0 - middle.y / view.size.y * 2.0);
    return vec3f((clip - view.shift) / view.focal, 1.0) * depth;
}

// Vector to the next pixel along the surface, on the side where the depth changes less.
fn slope(pixel: vec2i, here: vec3f, step: vec2i) -> vec3f {
    let depths = vec2f(depth_at(pixel + step), depth_at(pixel - step));
    let after = point_at(pixel + step, depths.x) - here;
    let before = here - point_at(pixel - step, depths.y);
    if depths.x == 0.0 || (depths.y != 0.0 && abs(before.z) < abs(after.z)) {
        return before;
    }
    return after;
}

// Draws the fluid surface among the solids.
@fragment
fn merge(@builtin(position) at: vec4f) -> Hit {
    let pixel = vec2i(at.xy);
    let depth = depth_at(pixel);
    let nearness = view.near / depth;
    if depth == 0.0 || is_hidden(at, nearness) {
        discard;
    }
    let here = point_at(pixel, depth);
    var normal = normalize(cross(slope(pixel, here, vec2i(0, 1)), slope(pixel, here, vec2i(1, 0))));
    if dot(normal, here) > 0.0 {
        normal = -normal;
    }
    let color = textureLoad(colors, pixel, 0);
    return Hit(color, vec2u(bitcast<u32>(depth), pack2x16snorm(normal.xy)), nearness);
}
