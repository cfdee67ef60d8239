//! Lines intersect triangles in their planes, and leave a closed body as often as they enter it, also at its edges.

use seixo_laws::ray_triangle::{Corner, crossing, winding_increment};

/// Integers below a limit, the same in every run.
fn numbers() -> impl FnMut(i64) -> i64 {
    let mut state = 5u64;
    move |limit| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 33) % limit as u64) as i64
    }
}

/// A corner with odd coordinates below 2 `reach`.
fn corner(mut number: impl FnMut(i64) -> i64, reach: i64) -> Corner {
    Corner {
        u: 2 * number(reach) + 1,
        v: 2 * number(reach) + 1,
        w: 2 * number(reach) + 1,
    }
}

/// Six times the volume of the tetrahedron abcd; positive if d sees abc clockwise.
fn volume([a, b, c, d]: [&Corner; 4]) -> i128 {
    let edge = |to: &Corner| [to.u - a.u, to.v - a.v, to.w - a.w].map(i128::from);
    let ([x, y, z], q, r) = (edge(b), edge(c), edge(d));
    x * (q[1] * r[2] - q[2] * r[1]) + y * (q[2] * r[0] - q[0] * r[2]) + z * (q[0] * r[1] - q[1] * r[0])
}

#[test]
fn a_line_crosses_a_triangle_in_its_plane_to_the_last_unit() {
    let mut number = numbers();
    let mut met = 0;
    for _ in 0..20_000 {
        // The largest possible coordinates.
        let [a, b, c] = [0; 3].map(|_| corner(&mut number, 1 << 19));
        let (u, v) = (2 * number(1 << 19), 2 * number(1 << 19));
        let height = crossing(&a, &b, &c, u, v);
        if height == 0 {
            continue;
        }
        met += 1;
        // The plane is between the lower and the upper end of this unit.
        let ends = [height, height + 1].map(|w| volume([&a, &b, &c, &Corner { u, v, w }]).signum());
        assert!(ends[0] * ends[1] <= 0 && ends[1] != 0, "{a:?} {b:?} {c:?} at {u}, {v}: {height}");
    }
    // The mean area of a random triangle in a square is 11/144 of it.
    assert!((1300..1750).contains(&met), "{met}");
}

#[test]
fn lines_enter_a_closed_body_as_often_as_they_leave_it() {
    let mut number = numbers();
    let (mut inside, mut at_edges) = (0, 0);
    for _ in 0..2000 {
        // So small that lines meet edges often.
        let mut corners = [0; 4].map(|_| corner(&mut number, 12));
        if volume(corners.each_ref()) < 0 {
            corners.swap(0, 1);
        }
        // Seen from outside, the corners of each are counterclockwise.
        let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]].map(|face| face.map(|k: usize| corners[k]));
        for (u, v) in (0..=12).flat_map(|u| (0..=12).map(move |v| (2 * u, 2 * v))) {
            let seen = faces.map(|[a, b, c]| (crossing(&a, &b, &c, u, v), winding_increment(&a, &b, &c, u, v)));
            let met = seen.iter().filter(|(height, _)| *height > 0).count();
            let mut turns: Vec<(i64, i32)> = seen.into_iter().filter(|(_, turn)| *turn != 0).collect();
            turns.sort_by_key(|&(height, turn)| (height, -turn));
            match turns.as_slice() {
                [] => {}
                [(low, 1), (high, -1)] => {
                    inside += 1;
                    assert!(*low > 0 && low <= high, "{corners:?} at {u}, {v}: {seen:?}");
                }
                _ => panic!("{corners:?} at {u}, {v}: {seen:?}"),
            }
            at_edges += usize::from(met > turns.len());
        }
    }
    assert!(inside > 10_000 && at_edges > 1000, "{inside} {at_edges}");
}
