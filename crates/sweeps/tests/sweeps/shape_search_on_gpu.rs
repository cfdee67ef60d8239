//! The kernel that searches pairs of polyhedral grains finds the contacts that the search of a CPU finds, through wgpu as in `gpu_equals_native.rs`.

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
use seixo_sweeps::kernels::polyhedra_search::{SEARCH_THREADS, search_shape_pairs, search_threads};
use seixo_sweeps::layout::RECORD;
use seixo_sweeps::periodic::{OPEN, PeriodicBoundariesLaunch};
use seixo_sweeps::shape_pairs::{PosedShape, ShapePair};
use seixo_sweeps::shape_search::find_contacts;
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
struct Solid {
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

    /// A prism whose edges do not fit into the lists of the kernel.
    fn prism() -> Solid {
        let sides = 24u32;
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
struct Pairs {
    words: Vec<u32>,
    numbers: Vec<f64>,
    all: Vec<ShapePair<f64, f64>>,
}

impl Pairs {
    /// Those of a cube, a rock, a prism and a union of two cubes.
    fn varied() -> Pairs {
        let union = Solid::cube([0.35, 0.0, 0.0], 0.25).with(Solid::cube([-0.3, 0.1, 0.05], 0.3));
        Pairs::of(&[Solid::cube([0.0; 3], 0.5), Solid::rock(), Solid::prism(), union], PAIRS, 0.02)
    }

    /// So many of these solids, see [`random_pairs`].
    fn of(solids: &[Solid], count: usize, step: f64) -> Pairs {
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
        let mut keys = [0; SLOTS];
        while find_contacts::<f64, f64>(&pair, words, numbers, 0, SLOTS as u32, &mut keys).contacts == 0 {
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
fn in_precision<C: Coordinate<R>, R: Real>(
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

/// What a comparison of the two searches found.
#[derive(Debug, Default)]
struct Compared {
    /// Pairs for which the kernel finds other contacts than a CPU, in either of two steps.
    differing: usize,
    /// Pairs in contact, and those of them with a union.
    touching: usize,
    unions: usize,
    /// Contacts of each kind.
    kinds: [usize; 4],
}

impl Compared {
    /// Number of varied pairs that differ, among enough that are in contact, and apart.
    #[track_caller]
    fn differing_of_varied(&self) -> usize {
        let are_enough = self.touching > PAIRS / 4 && self.touching < PAIRS - PAIRS / 8 && self.unions > 20;
        assert!(are_enough && self.kinds[1..].iter().all(|&contacts| contacts > 20), "{self:?}");
        self.differing
    }
}

/// Compares the search of the kernel with that of a CPU. The direction of a pair in contact is that of its nearest points, and has the same bits whichever
/// direction the pair began with.
fn compared<C: Coordinate<R> + Pod, R: Coordinate<R> + Pod>(
    of_pairs: Pairs,
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
    let (mut expected, mut along) = (Vec::new(), Vec::new());
    let mut counted = Compared::default();
    for pair in &pairs {
        let mut keys = vec![0u32; SLOTS + 1];
        let of_pair = in_precision::<C, R>(pair, place, number);
        let found = find_contacts::<C, R>(&of_pair, &words, &numbers, 0, SLOTS as u32, &mut keys);
        let contacts = found.contacts as usize;
        along.push([found.direction.x, found.direction.y, found.direction.z].map(wide));
        assert!(contacts < SLOTS, "{contacts} contacts");
        keys.truncate(contacts);
        keys.iter().for_each(|key| counted.kinds[(key >> 30) as usize] += 1);
        counted.touching += usize::from(contacts > 0);
        counted.unions += usize::from(contacts > 0 && [pair.i.shape, pair.j.shape].contains(&UNION));
        expected.push(keys);
    }

    // The grains of pair k are 2k and 2k + 1; the second is at the origin.
    let (mut positions, mut orientations, mut velocities, mut shapes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let count = pairs.len();
    let mut loads = vec![number(0.0); count * LOAD];
    for (pair, load) in pairs.iter().zip(loads.chunks_exact_mut(LOAD)) {
        let of_pair = in_precision::<C, R>(pair, place, number);
        for (at, grain) in [(of_pair.apart, of_pair.i), (Vector3::<C>::zero(), of_pair.j)] {
            positions.extend([at.x, at.y, at.z, grain.scale]);
            let turn = grain.orientation;
            orientations.extend([turn.w, turn.x, turn.y, turn.z]);
            velocities.extend([number(0.0), number(0.0), number(0.0), grain.mass]);
            shapes.push(grain.shape);
        }
        let direction = of_pair.direction;
        load[3 * RECORD..][..3].copy_from_slice(&[direction.x, direction.y, direction.z]);
    }
    let ends: Vec<u32> = (0..2 * count as u32).collect();
    let order: Vec<u32> = (0..count as u32).rev().collect();
    let spins = vec![number(0.0); velocities.len()];

    let client = client();
    let upload = |bytes: &[u8]| client.create_from_slice(bytes);
    // SAFETY: every handle is passed with the number of items, or of records of four, from which it was created.
    let argument = |handle, length| unsafe { BufferArg::from_raw_parts(handle, length) };
    let keys = upload(bytemuck::cast_slice(&vec![7u32; count * SLOTS]));
    let loads = upload(bytemuck::cast_slice(&loads));
    let flags = upload(bytemuck::cast_slice(&[0u32; FLAGS]));
    let mut differs = vec![false; count];
    let mut before: Vec<Option<[f64; 3]>> = vec![None; count];
    // The second step has the directions that the first one found.
    for _ in 0..2 {
        let zeros = || Vector3Launch::<C>::new(place(0.0), place(0.0), place(0.0));
        let slide = Vector3Launch::<R>::new(number(0.0), number(0.0), number(0.0));
        search_shape_pairs::launch::<R, C>(
            &client,
            CubeCount::Static((search_threads(count) / SEARCH_THREADS) as u32, 1, 1),
            CubeDim::new_1d(SEARCH_THREADS as u32),
            argument(upload(bytemuck::cast_slice(&ends)), ends.len()),
            argument(upload(bytemuck::cast_slice(&order)), order.len()),
            argument(upload(bytemuck::cast_slice(&shapes)), shapes.len()),
            argument(upload(bytemuck::cast_slice(&words)), words.len()),
            argument(upload(bytemuck::cast_slice(&numbers)), numbers.len()),
            argument(upload(bytemuck::cast_slice(&positions)), positions.len() / RECORD),
            argument(upload(bytemuck::cast_slice(&velocities)), velocities.len() / RECORD),
            argument(upload(bytemuck::cast_slice(&spins)), spins.len() / RECORD),
            argument(upload(bytemuck::cast_slice(&orientations)), orientations.len() / RECORD),
            argument(keys.clone(), count * SLOTS),
            argument(loads.clone(), count * PAIR_LOAD),
            argument(flags.clone(), FLAGS),
            PeriodicBoundariesLaunch::<C, R>::new(zeros(), zeros(), zeros(), zeros(), slide),
            count as u32,
            0,
            SLOTS,
            OPEN,
        );
        let [key_bytes, load_bytes] =
            [&keys, &loads].map(|handle| client.read_one(handle.clone()).expect("the device returns its results"));
        let found: Vec<u32> = bytemuck::pod_collect_to_vec(&key_bytes);
        let counts: Vec<R> = bytemuck::pod_collect_to_vec(&load_bytes);
        for (k, expected) in expected.iter().enumerate() {
            let contacts = wide(counts[k * LOAD + 3]) as usize;
            let found = &found[k * SLOTS..][..SLOTS];
            assert!(contacts < SLOTS && found[contacts] == 0, "pair {k}: {contacts} of {found:?}");
            differs[k] |= found[..contacts] != expected[..];
            if contacts > 0 && !differs[k] {
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
    }
    counted.differing = differs.into_iter().filter(|&differs| differs).count();
    counted
}

#[test]
fn a_search_in_single_precision() {
    // Devices round products and sums otherwise. In this precision that may decide about a contact that just begins or ends.
    let found = compared::<f32, f32>(Pairs::varied(), |x| x as f32, |x| x as f32, f64::from);
    let differing = found.differing_of_varied();
    assert!(differing <= PAIRS / 100, "{differing} of {PAIRS} pairs");
}

#[test]
fn a_search_in_mixed_precision() {
    let found = compared::<f64, f32>(Pairs::varied(), |x| x, |x| x as f32, f64::from);
    assert_eq!(found.differing_of_varied(), 0);
}

#[test]
fn a_search_in_double_precision() {
    let found = compared::<f64, f64>(Pairs::varied(), |x| x, |x| x, |x| x);
    assert_eq!(found.differing_of_varied(), 0);
}

#[test]
fn a_search_of_more_vertices_than_a_block_tests_at_once() {
    let pebbles = Pairs::of(&[Solid::pebble()], 12, 2e-3);
    let found = compared::<f64, f32>(pebbles, |x| x, |x| x as f32, f64::from);
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
    let found = compared::<f64, f32>(Pairs::of(&[union], 5, 2e-3), |x| x, |x| x as f32, f64::from);
    assert!(found.touching > 2 && found.differing == 0, "{found:?}");
}
