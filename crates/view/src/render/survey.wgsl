// What is brought to the processor of spheres that lie here: some of them, and bounds of all.
struct Plan {
    count: u32,
    // Every which sphere is brought, and how many that are.
    stride: u32,
    brought: u32,
}

@group(0) @binding(0) var<uniform> plan: Plan;
@group(0) @binding(1) var<storage, read> places: array<vec4f>;
@group(0) @binding(2) var<storage, read> values: array<f32>;
// Places and values of those that are brought; then of each group the lowest and the highest, the sum of radii and how many have one.
@group(0) @binding(3) var<storage, read_write> found: array<vec4f>;

const GROUP: u32 = 256u;
const FAR: f32 = 3e38;

var<workgroup> lowest: array<vec4f, GROUP>;
var<workgroup> highest: array<vec4f, GROUP>;
var<workgroup> sums: array<vec2f, GROUP>;

@compute @workgroup_size(GROUP)
fn survey(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) local: u32,
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
) {
    if id.x < plan.brought {
        let index = id.x * plan.stride;
        found[2u * id.x] = places[index];
        found[2u * id.x + 1u] = vec4f(values[index], vec3f());
    }
    var low = vec4f(FAR);
    var high = vec4f(-FAR);
    var sum = vec2f();
    for (var index = id.x; index < plan.count; index += groups.x * GROUP) {
        let place = places[index];
        // Neither what is nowhere nor what is not to be seen.
        if all(abs(place) < vec4f(FAR)) && place.w > 0.0 {
            low = min(low, place);
            high = max(high, place);
            sum += vec2f(place.w, 1.0);
        }
    }
    lowest[local] = low;
    highest[local] = high;
    sums[local] = sum;
    for (var half = GROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            lowest[local] = min(lowest[local], lowest[local + half]);
            highest[local] = max(highest[local], highest[local + half]);
            sums[local] += sums[local + half];
        }
    }
    if local == 0u {
        let first = 2u * plan.brought + 3u * group.x;
        found[first] = lowest[0];
        found[first + 1u] = highest[0];
        found[first + 2u] = vec4f(sums[0], vec2f());
    }
}
