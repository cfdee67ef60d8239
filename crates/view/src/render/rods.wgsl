struct Varying {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) @interpolate(flat) first: vec4f,
    @location(2) @interpolate(flat) second: vec3f,
    @location(3) @interpolate(flat) color: vec3f,
}

// A rectangle that faces the eye, in front of the rod, so that it covers all of it.
@vertex
fn place(@builtin(vertex_index) corner: u32, @location(0) start: vec4f, @location(1) end: vec3f, @location(2) color: vec4f) -> Varying {
    let radius = start.w;
    let first = vec4f(seen(start.xyz), radius);
    let second = seen(end);
    if !(min(first.z, second.z) - radius > view.near) || is_cut(0.5 * (start.xyz + end)) {
        return Varying(NOWHERE, vec3f(), first, second, vec3f());
    }
    let middle = 0.5 * (first.xyz + second);
    let sight = normalize(middle);
    var along = second - first.xyz;
    along -= dot(along, sight) * sight;
    // A rod seen from its end has no direction: any will do.
    if dot(along, along) < 1e-6 * radius * radius {
        along = cross(sight, vec3f(0.0, 1.0, 0.0));
    }
    along = normalize(along);
    let across = cross(sight, along);
    let half = 0.5 * (second - first.xyz);
    let nearer = abs(dot(half, sight)) + radius;
    let place = vec2f(f32(corner & 1u), f32(corner >> 1u)) * 2.0 - 1.0;
    let reach = abs(dot(half, along)) + radius;
    // Parts behind the rectangle look smaller; parts within its depth are inside it.
    let point = middle - nearer * sight + place.x * reach * along + place.y * radius * across;
    return Varying(project(point), point, first, second, linear(color.rgb));
}

struct Hit {
    @location(0) color: vec4f,
    @location(1) surface: vec2u,
    @builtin(frag_depth) depth: f32,
}

// Distance along the ray to a sphere; negative if the ray misses.
fn to_ball(ray: vec3f, center: vec3f, radius: f32) -> f32 {
    let near = dot(center, ray);
    let miss = center - near * ray;
    let inside = radius * radius - dot(miss, miss);
    return select(near - sqrt(max(inside, 0.0)), -1.0, inside < 0.0);
}

@fragment
fn hit(in: Varying) -> Hit {
    let ray = normalize(in.point);
    let radius = in.first.w;
    let axis = in.second - in.first.xyz;
    let extent = max(length(axis), 1e-6 * radius);
    let unit = axis / extent;
    // The ray and the vector to the rod, without their components along the rod.
    let slant = dot(ray, unit);
    let start = dot(in.first.xyz, unit);
    let turn = max(1.0 - slant * slant, 1e-9);
    let near = (dot(in.first.xyz, ray) - start * slant) / turn;
    let miss = near * (ray - slant * unit) - (in.first.xyz - start * unit);
    let inside = (radius * radius - dot(miss, miss)) / turn;
    var far = -1.0;
    if inside >= 0.0 {
        let side = near - sqrt(inside);
        let height = side * slant - start;
        if height < 0.0 {
            far = to_ball(ray, in.first.xyz, radius);
        } else if height > extent {
            far = to_ball(ray, in.second, radius);
        } else {
            far = side;
        }
    }
    let point = far * ray;
    let nearness = view.near / point.z;
    if far < 0.0 || is_hidden(in.position, nearness) {
        discard;
    }
    let foot = in.first.xyz + unit * clamp(dot(point - in.first.xyz, unit), 0.0, extent);
    let normal = (point - foot) / radius;
    return Hit(vec4f(in.color, 1.0), vec2u(bitcast<u32>(point.z), pack2x16snorm(normal.xy)), nearness);
}
