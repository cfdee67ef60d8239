//! The kernels that search pairs of polyhedral grains find the contacts that the search of a CPU finds, through wgpu as in `gpu_equals_native.rs`.
//! Features that are kept over steps change none of them.

#![allow(
    unsafe_code,
    reason = "a launch takes raw buffers; each is made here with the length it is passed with"
)]

use crate::gpu_equals_native::client;
use crate::shape_pairs::{at_rest, numbers_from, posed, rotation, vector};
use bytemuck::Pod;
use cubecl::prelude::*;
use seixo_laws::vector::Vector3Launch;
use seixo_laws::{Coordinate, Quaternion, Real, Vector3};
use seixo_sweeps::kernels::FLAGS;
use seixo_sweeps::kernels::polyhedra_lists::PAIR_LOAD;
use seixo_sweeps::kernels::polyhedra_near::{KEPT, NEAR_POSE, NEAR_THREADS, find_near_contacts};
use seixo_sweeps::kernels::polyhedra_search::{SEARCH_THREADS, search_shape_pairs, search_threads};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::near_features::{NearFeatures, motion_since};
use seixo_sweeps::periodic::{OPEN, PeriodicBoundariesLaunch};
use seixo_sweeps::shape_pairs::{PosedShape, ShapePair};
use seixo_sweeps::shape_search::find_contacts_over_steps;
use seixo_sweeps::shapes::{PartEnds, ShapeGeometry, lay_out};

/// Slots of a pair.
const SLOTS: usize = 32;
/// Numbers of the load of a pair.
const LOAD: usize = PAIR_LOAD * RECORD;
/// Pairs of the test: more than five blocks, the last of which is not full.
const PAIRS: usize = 330;
/// The shape of two parts.
const UNION: u32 = 3;

/// Vertices, edges and faces.
pub struct Solid {
    vertices: Vec<[f64; 3]>,
    edges: Vec<[u32; 2]>,
    loops: Vec<u32>,
    face_ends: Vec<u32>,
    parts: Vec<PartEnds>,
}

impl Solid {
    /// A convex one. Corners of faces go counterclockwise, seen from outside.
    fn convex(vertices: Vec<[f64; 3]>, edges: Vec<[u32; 2]>, faces: &[Vec<u32>]) -> Solid {
        let mut end = 0;
        let face_ends = faces.iter().map(|face| {
            end += face.len() as u32;
            end
        });
        let face_ends: Vec<u32> = face_ends.collect();
        let part = PartEnds {
            vertices: vertices.len() as u32,
            edges: edges.len() as u32,
            faces: faces.len() as u32,
        };
        Solid {
            vertices,
            edges,
            loops: faces.concat(),
            face_ends,
            parts: vec![part],
        }
    }

    fn cube(center: [f64; 3], half: f64) -> Solid {
        let corner = |k: u32| [0, 1, 2].map(|axis| center[axis] + half * (2.0 * f64::from((k >> axis) & 1) - 1.0));
        let edges = (0u32..8).flat_map(|k| [1, 2, 4].map(|step| [k, k | step]));
        let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        Solid::convex(
            (0..8).map(corner).collect(),
            edges.filter(|[first, second]| first != second).collect(),
            &faces.map(|face: [u32; 4]| face.to_vec()),
        )
    }

    /// An irregular octahedron.
    fn rock() -> Solid {
        let arms = [0.9, 0.7, 0.8, 0.6, 0.75, 0.85];
        let tip = |k: usize| {
            let mut tip = [0.0; 3];
            tip[k / 2] = if k.is_multiple_of(2) { arms[k] } else { -arms[k] };
            tip
        };
        let edges = (0u32..6).flat_map(|a| (a + 1..6).map(move |b| [a, b]));
        let faces: Vec<Vec<u32>> = (0u32..8)
            .map(|k| {
                let [x, y, z] = [k & 1, 2 + ((k >> 1) & 1), 4 + (k >> 2)];
                if k.count_ones().is_multiple_of(2) {
                    vec![x, y, z]
                } else {
                    vec![y, x, z]
                }
            })
            .collect();
        Solid::convex((0..6).map(tip).collect(), edges.filter(|[a, b]| a / 2 != b / 2).collect(), &faces)
    }

    /// A thin box of these half edges.
    pub fn rod([x, y, z]: [f64; 3]) -> Solid {
        let cube = Solid::cube([0.0; 3], 1.0);
        let vertices = cube.vertices.iter().map(|corner| [corner[0] * x, corner[1] * y, corner[2] * z]);
        Solid {
            vertices: vertices.collect(),
            ..cube
        }
    }

    /// A prism of so many sides. With 24, its edges do not fit into the lists of the kernel.
    pub fn prism(sides: u32) -> Solid {
        let corner = |k: u32| {
            let angle = f64::from(k % sides) * std::f64::consts::TAU / f64::from(sides);
            [0.6 * angle.cos(), 0.6 * angle.sin(), if k < sides { 0.5 } else { -0.5 }]
        };
        let next = |k: u32| (k + 1) % sides;
        let edges = (0..sides).flat_map(|k| [[k, next(k)], [sides + k, sides + next(k)], [k, sides + k]]);
        let mut faces: Vec<Vec<u32>> = (0..sides).map(|k| vec![k, sides + k, sides + next(k), next(k)]).collect();
        faces.push((0..sides).collect());
        faces.push((sides..2 * sides).rev().collect());
        Solid::convex((0..2 * sides).map(corner).collect(), edges.collect(), &faces)
    }

    /// A round one with ten circles of fifteen corners: four pairs of them have more vertices than a block tests at once.
    fn pebble() -> Solid {
        let (circles, sides) = (10u32, 15u32);
        let corner = |k: u32| {
            let (sine, cosine) = (std::f64::consts::PI * f64::from(k / sides + 1) / f64::from(circles + 1)).sin_cos();
            let angle = std::f64::consts::TAU * f64::from(k % sides) / f64::from(sides);
            [0.8 * sine * angle.cos(), 0.8 * sine * angle.sin(), 0.8 * cosine]
        };
        let next = |k: u32| k - k % sides + (k + 1) % sides;
        let (all, above_others) = (circles * sides, (circles - 1) * sides);
        let along = (0..all).map(|k| [k, next(k)]);
        let down = (0..above_others).map(|k| [k, k + sides]);
        let mut faces: Vec<Vec<u32>> = (0..above_others).map(|k| vec![k, k + sides, next(k) + sides, next(k)]).collect();
        faces.push((0..sides).collect());
        faces.push((above_others..all).rev().collect());
        Solid::convex((0..all).map(corner).collect(), along.chain(down).collect(), &faces)
    }

    /// A union of two.
    fn with(self, other: Solid) -> Solid {
        let (vertices, corners) = (self.vertices.len() as u32, self.loops.len() as u32);
        let edges = other.edges.iter().map(|ends| ends.map(|end| end + vertices));
        let edges: Vec<[u32; 2]> = self.edges.iter().copied().chain(edges).collect();
        let face_ends = other.face_ends.iter().map(|end| end + corners);
        let face_ends: Vec<u32> = self.face_ends.iter().copied().chain(face_ends).collect();
        let loops = other.loops.iter().map(|vertex| vertex + vertices);
        let loops: Vec<u32> = self.loops.iter().copied().chain(loops).collect();
        let both = PartEnds {
            vertices: vertices + other.vertices.len() as u32,
            edges: edges.len() as u32,
            faces: face_ends.len() as u32,
        };
        Solid {
            vertices: [self.vertices, other.vertices].concat(),
            edges,
            loops,
            face_ends,
            parts: [self.parts, vec![both]].concat(),
        }
    }

    fn geometry(&self) -> ShapeGeometry<'_> {
        ShapeGeometry {
            rounding: 0.06,
            contact_radius: 0.06,
            inscribed: 0.1,
            volume: 1.0,
            moments: [0.2; 3],
            vertices: &self.vertices,
            edges: &self.edges,
            loops: &self.loops,
            face_ends: &self.face_ends,
            parts: &self.parts,
        }
    }
}

/// Pairs, and words and numbers of their shapes.
pub struct Pairs {
    pub words: Vec<u32>,
    pub numbers: Vec<f64>,
    pub all: Vec<ShapePair<f64, f64>>,
}

impl Pairs {
    /// Those of a cube, a rock, a prism and a union of two cubes.
    pub fn varied() -> Pairs {
        let union = Solid::cube([0.35, 0.0, 0.0], 0.25).with(Solid::cube([-0.3, 0.1, 0.05], 0.3));
        Pairs::of(&[Solid::cube([0.0; 3], 0.5), Solid::rock(), Solid::prism(24), union], PAIRS, 0.02)
    }

    /// So many of these solids, see [`random_pairs`].
    pub fn of(solids: &[Solid], count: usize, step: f64) -> Pairs {
        let geometries: Vec<ShapeGeometry<'_>> = solids.iter().map(Solid::geometry).collect();
        let (mut words, mut numbers) = (Vec::new(), Vec::new());
        lay_out(&geometries, |word| words.push(word), |number| numbers.push(number));
        let all = random_pairs(&words, &numbers, solids.len(), count, step);
        Pairs { words, numbers, all }
    }
}

/// So many pairs of this number of shapes in random poses: in contact, near it and apart, by a few of these steps. Some know a direction, which is not that
/// of their nearest points.
fn random_pairs(words: &[u32], numbers: &[f64], of_shapes: usize, count: usize, step: f64) -> Vec<ShapePair<f64, f64>> {
    let mut random = numbers_from(41);
    let pair_of = |trial: usize| {
        let shapes = [trial % of_shapes, trial / of_shapes % of_shapes].map(|shape| shape as u32);
        let i = posed(shapes[0], 1.0, rotation(vector(&mut random).times(2.0)));
        let j = posed(shapes[1], 0.8, rotation(vector(&mut random).times(2.0)));
        let along = vector(&mut random);
        let along = along.times(1.0 / along.length());
        let mut distance = 1.9;
        let mut pair = at_rest(along.times(distance), i, j);
        let (mut keys, mut near) = ([0; SLOTS], NearFeatures::none());
        while find_contacts_over_steps::<f64, f64>(&pair, words, numbers, 0, SLOTS as u32, &mut keys, &mut near).contacts == 0 {
            distance -= step;
            pair.apart = along.times(distance);
        }
        pair.apart = along.times(distance + step * [-2.5, -1.0, 0.0, 1.5, 5.0][trial % 5]);
        if trial.is_multiple_of(3) {
            let direction = along.plus(&vector(&mut random).times(0.2));
            pair.direction = direction.times(1.0 / direction.length());
        }
        pair
    };
    (0..count).map(pair_of).collect()
}

/// The pair in another precision.
pub fn in_precision<C: Coordinate<R>, R: Real>(
    pair: &ShapePair<f64, f64>,
    place: impl Fn(f64) -> C + Copy,
    number: impl Fn(f64) -> R + Copy,
) -> ShapePair<C, R> {
    let posed = |grain: &PosedShape<f64, f64>| PosedShape {
        shape: grain.shape,
        scale: place(grain.scale),
        orientation: Quaternion {
            w: place(grain.orientation.w),
            x: place(grain.orientation.x),
            y: place(grain.orientation.y),
            z: place(grain.orientation.z),
        },
        spin: Vector3::<R>::zero(),
        mass: number(grain.mass),
    };
    ShapePair {
        apart: Vector3 {
            x: place(pair.apart.x),
            y: place(pair.apart.y),
            z: place(pair.apart.z),
        },
        velocity: Vector3::<R>::zero(),
        direction: Vector3 {
            x: number(pair.direction.x),
            y: number(pair.direction.y),
            z: number(pair.direction.z),
        },
        i: posed(&pair.i),
        j: posed(&pair.j),
    }
}

/// How pairs move: each on a straight line, while both grains rotate about axes of their own. In the middle of their path they are where they were made.
pub struct Path {
    pub steps: usize,
    /// Shift in a step \[m\].
    pub shift: f64,
    /// Angles by which i and j rotate in a step \[rad\].
    pub turns: [f64; 2],
}

/// Two steps in which nothing moves.
const AT_REST: Path = Path {
    steps: 2,
    shift: 0.0,
    turns: [0.0; 2],
};

/// Some steps within the margin of the features that are kept, which is 0.036 m.
pub const SLOW: Path = Path {
    steps: 24,
    shift: 0.0015,
    turns: [0.002, 0.001],
};

impl Path {
    /// Pair k in this step.
    pub fn at(&self, step: usize, k: usize, pair: &ShapePair<f64, f64>) -> ShapePair<f64, f64> {
        let mut random = numbers_from(1000 + k as u64);
        let mut any_direction = || {
            let along = vector(&mut random);
            along.times(1.0 / along.length())
        };
        let [along, axis_i, axis_j] = [any_direction(), any_direction(), any_direction()];
        let steps = step as f64 - 0.5 * (self.steps - 1) as f64;
        let mut moved = *pair;
        moved.apart = pair.apart.plus(&along.times(self.shift * steps));
        moved.i.orientation = rotation(axis_i.times(self.turns[0] * steps)).after(&pair.i.orientation);
        moved.j.orientation = rotation(axis_j.times(self.turns[1] * steps)).after(&pair.j.orientation);
        moved
    }
}

/// What a comparison of the two searches found.
#[derive(Debug, Default)]
struct Compared {
    /// In how many steps the kernels find other contacts of a pair than a CPU.
    differing: usize,
    /// Pairs in contact in the first step, and those of them with a union.
    touching: usize,
    unions: usize,
    /// Contacts of each kind in the first step.
    kinds: [usize; 4],
    /// How often a pair in contact was looked at with the features of an earlier step, and how often they were looked for, after the first step.
    kept: usize,
    searched: usize,
    /// How often a pair apart kept that it has no features, until its grains have moved by more than the margin.
    waiting: usize,
}

impl Compared {
    /// In how many steps varied pairs differ, if enough are in contact, and apart.
    #[track_caller]
    fn differing_of_varied(&self) -> usize {
        let are_enough = self.touching > PAIRS / 4 && self.touching < PAIRS - PAIRS / 8 && self.unions > 20;
        assert!(are_enough && self.kinds[1..].iter().all(|&contacts| contacts > 20), "{self:?}");
        self.differing
    }

    /// Asserts that features were kept in most steps, and looked for in some. A fifth of the pairs stay about 0.1 m apart.
    #[track_caller]
    fn assert_kept(&self) {
        assert!(self.kept > self.searched && self.searched > 20 && self.waiting > 100, "{self:?}");
    }
}

/// Compares the search of the kernels with that of a CPU along a path. The direction of a pair in contact is that of its nearest points, and has the same
/// bits whichever direction the pair began with.
fn compared<C: Coordinate<R> + Pod, R: Coordinate<R> + Pod>(
    of_pairs: Pairs,
    path: &Path,
    place: impl Fn(f64) -> C + Copy,
    number: impl Fn(f64) -> R + Copy,
    wide: impl Fn(R) -> f64 + Copy,
) -> Compared {
    let Pairs {
        words,
        numbers,
        all: pairs,
    } = of_pairs;
    let numbers: Vec<C> = numbers.into_iter().map(place).collect();
    let count = pairs.len();
    let mut loads = vec![number(0.0); count * LOAD];
    for (pair, load) in pairs.iter().zip(loads.chunks_exact_mut(LOAD)) {
        let direction = in_precision::<C, R>(pair, place, number).direction;
        load[3 * RECORD..][..3].copy_from_slice(&[direction.x, direction.y, direction.z]);
    }
    let ends: Vec<u32> = (0..2 * count as u32).collect();
    let order: Vec<u32> = (0..count as u32).rev().collect();

    let client = client();
    let upload = |bytes: &[u8]| client.create_from_slice(bytes);
    // SAFETY: every handle is passed with the number of items, or of records of four, from which it was created.
    let argument = |handle, length| unsafe { BufferArg::from_raw_parts(handle, length) };
    let keys = upload(bytemuck::cast_slice(&vec![7u32; count * SLOTS]));
    let loads = upload(bytemuck::cast_slice(&loads));
    let flags = upload(bytemuck::cast_slice(&[0u32; FLAGS]));
    let near = upload(bytemuck::cast_slice(&vec![7u32; count * KEPT]));
    let near_counts = upload(bytemuck::cast_slice(&vec![0u32; count]));
    let near_poses = upload(bytemuck::cast_slice(&vec![place(0.0); count * NEAR_POSE * RECORD]));
    let [ends_there, order_there, words_there] = [&ends, &order, &words].map(|items| upload(bytemuck::cast_slice(items)));
    let numbers_there = upload(bytemuck::cast_slice(&numbers));
    let mut counted = Compared::default();
    let mut before: Vec<Option<[f64; 3]>> = vec![None; count];
    let mut poses_before: Vec<u8> = Vec::new();
    // The steps after the first one have the directions and features that those before found.
    for step in 0..path.steps {
        // The grains of pair k are 2k and 2k + 1; the second is at the origin.
        let (mut positions, mut orientations, mut velocities, mut shapes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut expected, mut along) = (Vec::new(), Vec::new());
        for (k, pair) in pairs.iter().enumerate() {
            let of_pair = in_precision::<C, R>(&path.at(step, k, pair), place, number);
            for (at, grain) in [(of_pair.apart, of_pair.i), (Vector3::<C>::zero(), of_pair.j)] {
                positions.extend([at.x, at.y, at.z, grain.scale]);
                let turn = grain.orientation;
                orientations.extend([turn.w, turn.x, turn.y, turn.z]);
                velocities.extend([number(0.0), number(0.0), number(0.0), grain.mass]);
                shapes.push(grain.shape);
            }
            let (mut keys, mut near) = (vec![0u32; SLOTS + 1], NearFeatures::none());
            let found = find_contacts_over_steps::<C, R>(&of_pair, &words, &numbers, 0, SLOTS as u32, &mut keys, &mut near);
            let contacts = found.contacts as usize;
            along.push([found.direction.x, found.direction.y, found.direction.z].map(wide));
            assert!(contacts < SLOTS, "{contacts} contacts");
            keys.truncate(contacts);
            if step == 0 {
                keys.iter().for_each(|key| counted.kinds[(key >> 30) as usize] += 1);
                counted.touching += usize::from(contacts > 0);
                counted.unions += usize::from(contacts > 0 && [pair.i.shape, pair.j.shape].contains(&UNION));
            }
            expected.push(keys);
        }
        let spins = vec![number(0.0); velocities.len()];
        let [positions_there, orientations_there] = [&positions, &orientations].map(|items| upload(bytemuck::cast_slice(&items[..])));
        let [velocities_there, spins_there] = [&velocities, &spins].map(|items| upload(bytemuck::cast_slice(&items[..])));
        let shapes_there = upload(bytemuck::cast_slice(&shapes));
        let zeros = || Vector3Launch::<C>::new(place(0.0), place(0.0), place(0.0));
        let slide = || Vector3Launch::<R>::new(number(0.0), number(0.0), number(0.0));
        search_shape_pairs::launch::<R, C>(
            &client,
            CubeCount::Static((search_threads(count) / SEARCH_THREADS) as u32, 1, 1),
            CubeDim::new_1d(SEARCH_THREADS as u32),
            argument(ends_there.clone(), ends.len()),
            argument(order_there.clone(), order.len()),
            argument(shapes_there.clone(), shapes.len()),
            argument(words_there.clone(), words.len()),
            argument(numbers_there.clone(), numbers.len()),
            argument(positions_there.clone(), positions.len() / RECORD),
            argument(velocities_there.clone(), velocities.len() / RECORD),
            argument(spins_there.clone(), spins.len() / RECORD),
            argument(orientations_there.clone(), orientations.len() / RECORD),
            argument(near.clone(), count * KEPT),
            argument(near_counts.clone(), count),
            argument(near_poses.clone(), count * NEAR_POSE),
            argument(loads.clone(), count * PAIR_LOAD),
            argument(flags.clone(), FLAGS),
            PeriodicBoundariesLaunch::<C, R>::new(zeros(), zeros(), zeros(), zeros(), slide()),
            count as u32,
            0,
            OPEN,
        );
        find_near_contacts::launch::<R, C>(
            &client,
            CubeCount::Static(count.div_ceil(NEAR_THREADS) as u32, 1, 1),
            CubeDim::new_1d(NEAR_THREADS as u32),
            argument(ends_there.clone(), ends.len()),
            argument(order_there.clone(), order.len()),
            argument(shapes_there, shapes.len()),
            argument(words_there.clone(), words.len()),
            argument(numbers_there.clone(), numbers.len()),
            argument(positions_there, positions.len() / RECORD),
            argument(velocities_there, velocities.len() / RECORD),
            argument(spins_there, spins.len() / RECORD),
            argument(orientations_there, orientations.len() / RECORD),
            argument(near.clone(), count * KEPT),
            argument(near_counts.clone(), count),
            argument(keys.clone(), count * SLOTS),
            argument(loads.clone(), count * PAIR_LOAD),
            argument(flags.clone(), FLAGS),
            PeriodicBoundariesLaunch::<C, R>::new(zeros(), zeros(), zeros(), zeros(), slide()),
            count as u32,
            0,
            SLOTS,
            OPEN,
        );
        let [key_bytes, load_bytes, pose_bytes] =
            [&keys, &loads, &near_poses].map(|handle| client.read_one(handle.clone()).expect("the device returns its results"));
        let found: Vec<u32> = bytemuck::pod_collect_to_vec(&key_bytes);
        let counts: Vec<R> = bytemuck::pod_collect_to_vec(&load_bytes);
        let poses: Vec<u8> = bytemuck::pod_collect_to_vec(&pose_bytes);
        let bytes_of_pose = NEAR_POSE * RECORD * size_of::<C>();
        for (k, expected) in expected.iter().enumerate() {
            let contacts = wide(counts[k * LOAD + 3]) as usize;
            let found = &found[k * SLOTS..][..SLOTS];
            assert!(contacts < SLOTS && found[contacts] == 0, "pair {k}: {contacts} of {found:?}");
            let differs = found[..contacts] != expected[..];
            counted.differing += usize::from(differs);
            let of_pair = k * bytes_of_pose..(k + 1) * bytes_of_pose;
            let is_kept = step > 0 && poses[of_pair.clone()] == poses_before[of_pair.clone()];
            if contacts == 0 {
                let allowed: C = bytemuck::pod_read_unaligned(&poses[of_pair.end - size_of::<C>()..of_pair.end]);
                counted.waiting += usize::from(is_kept && allowed > place(0.04));
            }
            if contacts == 0 || differs {
                continue;
            }
            if step > 0 {
                counted.kept += usize::from(is_kept);
                counted.searched += usize::from(!is_kept);
            }
            // Deep in a path cores may meet, where no direction is that of the nearest points.
            if path.shift == 0.0 && path.turns == [0.0; 2] {
                let direction = [12, 13, 14].map(|at| wide(counts[k * LOAD + at]));
                let cosine: f64 = (0..3).map(|axis| direction[axis] * along[k][axis]).sum();
                assert!(cosine > 0.9999, "pair {k}: {direction:?} instead of {:?}", along[k]);
                let earlier = before[k].replace(direction);
                assert!(
                    earlier.is_none_or(|earlier| earlier == direction),
                    "pair {k}: {earlier:?}, then {direction:?}"
                );
            }
        }
        poses_before = poses;
    }
    counted
}

#[test]
fn a_search_in_single_precision() {
    // Devices round products and sums otherwise. In this precision that may decide about a contact that just begins or ends.
    let found = compared::<f32, f32>(Pairs::varied(), &AT_REST, |x| x as f32, |x| x as f32, f64::from);
    let differing = found.differing_of_varied();
    let all = AT_REST.steps * PAIRS;
    assert!(differing <= all / 100, "{differing} of {all}");
}

#[test]
fn a_search_in_mixed_precision() {
    let found = compared::<f64, f32>(Pairs::varied(), &AT_REST, |x| x, |x| x as f32, f64::from);
    assert_eq!(found.differing_of_varied(), 0);
}

#[test]
fn a_search_in_double_precision() {
    let found = compared::<f64, f64>(Pairs::varied(), &AT_REST, |x| x, |x| x, |x| x);
    assert_eq!(found.differing_of_varied(), 0);
}

#[test]
fn a_search_of_more_vertices_than_a_block_tests_at_once() {
    let pebbles = Pairs::of(&[Solid::pebble()], 12, 2e-3);
    let found = compared::<f64, f32>(pebbles, &AT_REST, |x| x, |x| x as f32, f64::from);
    // Any four of them have 1200 vertices.
    assert!(found.touching > 4 && found.differing == 0, "{found:?}");
}

#[test]
fn a_search_of_unions_of_more_parts_than_a_word_has_bits() {
    // Forty cubes around the center, apart from each other.
    let cube = |k: u32| {
        let (height, angle) = (1.0 - f64::from(2 * k + 1) / 40.0, 2.4 * f64::from(k));
        let radius = (1.0f64 - height * height).sqrt();
        Solid::cube([radius * angle.cos(), radius * angle.sin(), height].map(|x| 0.7 * x), 0.1)
    };
    let union = (1..40).fold(cube(0), |union, k| union.with(cube(k)));
    let found = compared::<f64, f32>(Pairs::of(&[union], 5, 2e-3), &AT_REST, |x| x, |x| x as f32, f64::from);
    assert!(found.touching > 2 && found.differing == 0, "{found:?}");
}

#[test]
fn features_that_are_kept_in_single_precision() {
    let found = compared::<f32, f32>(Pairs::varied(), &SLOW, |x| x as f32, |x| x as f32, f64::from);
    found.assert_kept();
    // As above, in each step.
    let (differing, all) = (found.differing, SLOW.steps * PAIRS);
    assert!(differing <= all / 100, "{differing} of {all}");
}

#[test]
fn features_that_are_kept_in_mixed_precision() {
    let found = compared::<f64, f32>(Pairs::varied(), &SLOW, |x| x, |x| x as f32, f64::from);
    found.assert_kept();
    assert_eq!(found.differing, 0);
}

#[test]
fn features_of_long_grains_that_rotate_alone() {
    // Their ends move by 0.01 m a step, while their centers rest.
    let turning = Path {
        steps: 16,
        shift: 0.0,
        turns: [0.01, 0.0],
    };
    let rods = Pairs::of(&[Solid::rod([0.9, 0.04, 0.05])], 120, 0.02);
    let found = compared::<f64, f32>(rods, &turning, |x| x, |x| x as f32, f64::from);
    assert!(found.touching > 40 && found.kept > 200 && found.searched > 20, "{found:?}");
    assert_eq!(found.differing, 0);
}

#[test]
fn features_of_pairs_that_move_by_more_than_the_margin() {
    // Centers shift by 0.04 m a step.
    let fast = Path {
        steps: 4,
        shift: 0.04,
        turns: [0.02, 0.0],
    };
    let found = compared::<f64, f32>(Pairs::varied(), &fast, |x| x, |x| x as f32, f64::from);
    assert!(found.searched > 100 && found.kept == 0, "{found:?}");
    assert_eq!(found.differing, 0);
}

#[test]
fn no_point_moves_by_more_than_the_bound() {
    let mut random = numbers_from(5);
    let mut most = 0.0f64;
    for trial in 0..2000 {
        let before = rotation(vector(&mut random).times(3.0));
        let (axis, shift) = (vector(&mut random), vector(&mut random).times(0.1));
        let angle = [1e-3, 0.1, 1.0, 3.0][trial % 4];
        let after = rotation(axis.times(angle / axis.length())).after(&before);
        let tip = vector(&mut random);
        let way = after.to_space(&tip).plus(&shift).minus(&before.to_space(&tip));
        let bound = motion_since::<f64>(&after, &shift, &before, &Vector3::zero(), tip.length());
        most = most.max(way.length() / bound);
    }
    // Rounding of f64. A bound that is much wider would keep features for fewer steps.
    assert!(most < 1.0 + 1e-12 && most > 0.95, "{most}");
}
