@group(0) @binding(1) var colors: texture_2d<f32>;
@group(0) @binding(2) var surfaces: texture_2d<u32>;
@group(0) @binding(3) var lit: texture_storage_2d<rgba16float, write>;

const SAMPLES: u32 = 20u;
// Direction of the light, a little above and left of the eye.
const LIGHT: vec3f = vec3f(-0.32, 0.52, -0.79);

// Ambient visibility of a point: rays in the hemisphere of its normal, from grain to scene size, count as blocked where the depth image lies in front
// of their ends (Mittring 2007, with Jimenez' gradient noise).
fn openness(at: vec2f, point: vec3f, normal: vec3f) -> f32 {
    let side = normalize(cross(normal, select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), abs(normal.x) > 0.7)));
    let above = cross(normal, side);
    let noise = fract(52.9829189 * fract(dot(at, vec2f(0.06711056, 0.00583715))));
    var blocked = 0.0;
    for (var i = 0u; i < SAMPLES; i++) {
        let part = (f32(i) + noise) / f32(SAMPLES);
        let angle = 6.2831853 * (f32(i) * 0.61803399 + noise);
        let lift = fract(f32(i) * 0.7548777 + noise);
        let flat_part = sqrt(1.0 - lift);
        let reach = view.occlusion.x * pow(view.occlusion.y / view.occlusion.x, part);
        let ray = flat_part * (cos(angle) * side + sin(angle) * above) + sqrt(lift) * normal;
        let end = point + reach * (ray + 0.05 * normal);
        let clip = view.focal * end.xy / end.z + view.shift;
        let pixel = vec2i(vec2f(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y) * view.size);
        if all(pixel >= vec2i(0)) && all(pixel < vec2i(view.size)) {
            let bits = textureLoad(surfaces, pixel, 0).x;
            let gap = end.z - bitcast<f32>(bits);
            if bits != 0u && gap > 0.0 {
                blocked += smoothstep(0.0, 1.0, 2.5 * reach / max(gap, 1e-30) - 0.2);
            }
        }
    }
    return 1.0 - blocked / f32(SAMPLES);
}

// A compute pass: compute cards have few units for fragment shading.
@compute @workgroup_size(8, 8)
fn light(@builtin(global_invocation_id) id: vec3u) {
    if all(id.xy < vec2u(view.size)) {
        textureStore(lit, id.xy, lit_at(vec2f(id.xy) + 0.5));
    }
}

fn lit_at(at: vec2f) -> vec4f {
    let surface = textureLoad(surfaces, vec2i(at.xy), 0).xy;
    if surface.x == 0u {
        return vec4f(linear(mix(view.sky.rgb, view.ground.rgb, at.y / view.size.y)), 1.0);
    }
    let depth = bitcast<f32>(surface.x);
    let clip = vec2f(at.x / view.size.x * 2.0 - 1.0, 1.0 - at.y / view.size.y * 2.0);
    let point = vec3f((clip - view.shift) / view.focal, 1.0) * depth;
    let tilt = unpack2x16snorm(surface.y);
    let normal = vec3f(tilt, -sqrt(max(1.0 - dot(tilt, tilt), 0.0)));
    let open = openness(at, point, normal);
    let toward = normalize(LIGHT);
    let eye = -normalize(point);
    let diffuse = max(dot(normal, toward), 0.0) / 0.79;
    let gloss = 0.06 * pow(max(dot(normal, normalize(toward + eye)), 0.0), 48.0);
    // A surface that faces the eye without occlusion keeps its color; others are darker.
    let sky = 0.92 + 0.22 * normal.y;
    let brightness = 0.46 * sky * open * open + 0.576 * diffuse * mix(open, 1.0, 0.25);
    let color = textureLoad(colors, vec2i(at.xy), 0).rgb;
    return vec4f(color * brightness + gloss * open, 1.0);
}
