// Nearness of the nearest sphere in each pixel, as the bits of a positive float, whose order is the same; and its appearance.
@group(0) @binding(1) var<storage, read_write> depths: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> marks: array<atomic<u32>>;
// Least nearness in each tile of pixels.
@group(0) @binding(3) var<storage, read_write> tiles: array<u32>;

// Indices of the spheres drawn as squares; arguments of the indirect draw of these, then the number of spheres.
@group(1) @binding(2) var<storage, read_write> large: array<u32>;
@group(1) @binding(3) var<storage, read_write> arguments: array<atomic<u32>, 5>;
// 1 for the spheres that the last picture showed: they are likely to hide the others.
@group(1) @binding(4) var<storage, read_write> was_seen: array<atomic<u32>>;

// Most pixels per invocation.
const MOST: u32 = 4096u;
// Pixels along the side of a tile.
const TILE: u32 = 8u;
// Rounding tolerance between passes, in units of the last place.
const ROUNDING: u32 = 4u;

// Tangents of the angles that bound a sphere along one direction of the picture.
fn extent(center: f32, depth: f32, radius: f32) -> vec2f {
    let square = depth * depth - radius * radius;
    let half = radius * sqrt(center * center + square);
    return (center * depth + vec2f(-half, half)) / square;
}

// Range of pixels that a sphere may cover: first column and row, and the ones behind the last.
fn box_of(sphere: vec4f) -> vec4u {
    let across = view.focal.x * extent(sphere.x, sphere.z, sphere.w) + view.shift.x;
    let above = view.focal.y * extent(sphere.y, sphere.z, sphere.w) + view.shift.y;
    let low = (vec2f(across.x, -above.y) * 0.5 + 0.5) * view.size;
    let high = (vec2f(across.y, -above.x) * 0.5 + 0.5) * view.size;
    return vec4u(vec2u(clamp(floor(low), vec2f(), view.size)), vec2u(clamp(ceil(high), vec2f(), view.size)));
}

fn toward(pixel: vec2u) -> vec3f {
    let place = (vec2f(pixel) + 0.5) / view.size * 2.0 - 1.0;
    return vec3f((vec2f(place.x, -place.y) - view.shift) / view.focal, 1.0);
}

fn pixels_of(sides: vec4u) -> u32 {
    return select(0u, (sides.z - sides.x) * (sides.w - sides.y), all(sides.zw > sides.xy));
}

// Greatest possible nearness of a sphere.
fn front_of(sphere: vec4f) -> u32 {
    return bitcast<u32>(view.near / (sphere.z - sphere.w));
}

fn tiles_across() -> u32 {
    return (u32(view.size.x) + TILE - 1u) / TILE;
}

// Writes the nearness of a sphere. If spheres are few, several invocations share the rows of each: this one starts at row `first` and skips those of
// the others.
fn place(sphere: vec4f, sides: vec4u, front: u32, first: u32, step: u32) {
    for (var y = sides.y + first; y < sides.w; y += step) {
        for (var x = sides.x; x < sides.z; x++) {
            let place = y * u32(view.size.x) + x;
            let known = atomicLoad(&depths[place]);
            if front <= known {
                continue;
            }
            let depth = strike(sphere, toward(vec2u(x, y))).depth;
            let bits = bitcast<u32>(view.near / depth);
            if depth > 0.0 && bits > known {
                atomicMax(&depths[place], bits);
            }
        }
    }
}

// Places the spheres that were seen before.
@compute @workgroup_size(256)
fn known(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let index = id.x;
    if index >= atomicLoad(&arguments[4]) || atomicLoad(&was_seen[index]) == 0u {
        return;
    }
    let sphere = sphere_of(balls[index]);
    let sides = box_of(sphere);
    if is_seen(balls[index], sphere) && pixels_of(sides) <= MOST {
        place(sphere, sides, front_of(sphere), id.y, groups.y);
    }
}

// Places the other spheres, except those that the former hide.
@compute @workgroup_size(256)
fn nearest(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let index = id.x;
    if index >= atomicLoad(&arguments[4]) {
        return;
    }
    // Other invocations of this sphere may read the flag after its reset and place the sphere again, which changes nothing.
    let was_placed = atomicLoad(&was_seen[index]) != 0u;
    if was_placed && id.y == 0u {
        atomicStore(&was_seen[index], 0u);
    }
    let sphere = sphere_of(balls[index]);
    if !is_seen(balls[index], sphere) {
        return;
    }
    let sides = box_of(sphere);
    if pixels_of(sides) > MOST {
        if id.y == 0u {
            large[atomicAdd(&arguments[1], 1u)] = index;
        }
        return;
    }
    let front = front_of(sphere);
    // Two passes may compute slightly different boxes and so classify a sphere differently.
    let is_placed = was_placed && 2u * pixels_of(sides) < MOST;
    if !is_placed && is_in_front(sides, front) {
        place(sphere, sides, front, id.y, groups.y);
    }
}

// Least nearness per tile: a sphere behind it is not seen there.
@compute @workgroup_size(256)
fn farthest(@builtin(global_invocation_id) id: vec3u) {
    let size = vec2u(view.size);
    let corner = TILE * vec2u(id.x % tiles_across(), id.x / tiles_across());
    if corner.y >= size.y {
        return;
    }
    let end = min(corner + TILE, size);
    var least = 0xffffffffu;
    for (var y = corner.y; y < end.y; y++) {
        for (var x = corner.x; x < end.x; x++) {
            least = min(least, atomicLoad(&depths[y * size.x + x]));
        }
    }
    tiles[id.x] = least;
}

// Whether part of a sphere may lie in front of the known spheres.
fn is_in_front(sides: vec4u, front: u32) -> bool {
    for (var y = sides.y / TILE; y * TILE < sides.w; y++) {
        for (var x = sides.x / TILE; x * TILE < sides.z; x++) {
            if front >= tiles[y * tiles_across() + x] {
                return true;
            }
        }
    }
    return false;
}

// Stores the appearance of the nearest sphere in each pixel: its palette index and 12 bits for each of two components of the normal.
@compute @workgroup_size(256)
fn mark(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let index = id.x;
    if index >= atomicLoad(&arguments[4]) {
        return;
    }
    let sphere = sphere_of(balls[index]);
    let sides = box_of(sphere);
    if !is_seen(balls[index], sphere) || pixels_of(sides) > MOST {
        return;
    }
    let front = front_of(sphere) + ROUNDING;
    if !is_in_front(sides, front) {
        return;
    }
    var is_shown = false;
    let shade = shade_of(index) << 24u;
    for (var y = sides.y + id.y; y < sides.w; y += groups.y) {
        for (var x = sides.x; x < sides.z; x++) {
            let place = y * u32(view.size.x) + x;
            let known = atomicLoad(&depths[place]);
            if front < known {
                continue;
            }
            let found = strike(sphere, toward(vec2u(x, y)));
            if found.depth > 0.0 && bitcast<u32>(view.near / found.depth) + ROUNDING >= known {
                is_shown = true;
                let tilt = vec2u(round((found.normal.xy * 0.5 + 0.5) * 4095.0));
                atomicMax(&marks[place], shade | (tilt.x << 12u) | tilt.y);
            }
        }
    }
    if is_shown {
        atomicStore(&was_seen[index], 1u);
    }
}
