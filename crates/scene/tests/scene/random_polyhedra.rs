//! Random shapes of polyhedral grains, sound and spoiled, from the scene to contacts: each is refused with a remedy, or is a possible body whose forces
//! are finite, and opposite on both grains of a pair.
//!
//! `SEIXO_SHAPES` is the number of shapes of the long test, and `SEIXO_FIRST_SHAPE` the seed of the first. A failure prints its seed.

use glam::{DQuat, DVec3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use seixo_analysis::Polyhedron;
use seixo_engine::Simulation;
use seixo_engine::world::{PolyhedralShape, WallShape};
use seixo_scene::{Scene, load_text};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

type Mesh = Vec<[DVec3; 3]>;

/// Overlap of contacts here, over the rounding radius. Faces are flat to a millionth of the size, a hundredth of the smallest rounding radius.
const OVERLAP: f64 = 0.05;

/// Whether something of this probability happens.
fn happens(dice: &mut ChaCha12Rng, probability: f64) -> bool {
    dice.random::<f64>() < probability
}

/// A power of ten with an exponent between two.
fn power(dice: &mut ChaCha12Rng, low: f64, high: f64) -> f64 {
    10f64.powf(low + (high - low) * dice.random::<f64>())
}

/// A point of a cube with corners at ±1.
fn point(dice: &mut ChaCha12Rng) -> DVec3 {
    let [x, y, z]: [f64; 3] = [dice.random(), dice.random(), dice.random()];
    2.0 * DVec3::new(x, y, z) - 1.0
}

fn turn(dice: &mut ChaCha12Rng) -> DQuat {
    let [x, y, z, w]: [f64; 4] = [dice.random(), dice.random(), dice.random(), dice.random()];
    DQuat::from_xyzw(x - 0.5, y - 0.5, z - 0.5, w + 0.01).normalize()
}

/// The triangles around points; none if there are none.
fn around(points: &[DVec3]) -> Mesh {
    let found = Polyhedron::around(points).map(|found| found.triangles()).unwrap_or_default();
    found.into_iter().map(|triangle| triangle.map(DVec3::from)).collect()
}

fn block() -> Mesh {
    let side = |k: u32, bit: u32| f64::from((k >> bit) & 1) - 0.5;
    around(&(0..8).map(|k| DVec3::new(side(k, 0), side(k, 1), side(k, 2))).collect::<Vec<_>>())
}

fn ball(dice: &mut ChaCha12Rng, points: usize) -> Vec<DVec3> {
    (0..points).map(|_| point(dice).normalize_or(DVec3::X)).collect()
}

fn mapped(mesh: Mesh, map: impl Fn(DVec3) -> DVec3) -> Mesh {
    mesh.into_iter().map(|triangle| triangle.map(&map)).collect()
}

/// A mesh that is often sound: convex, concave, flat, a needle, or of two bodies.
fn mesh(dice: &mut ChaCha12Rng) -> Mesh {
    match dice.random_range(0..8) {
        0 | 1 => {
            let count = dice.random_range(4..40);
            around(&(0..count).map(|_| point(dice)).collect::<Vec<_>>())
        }
        2 => {
            let edges = DVec3::new(power(dice, -5.0, 0.0), power(dice, -3.0, 0.0), 1.0);
            mapped(block(), |corner| corner * edges)
        }
        3 => {
            let (sides, height): (u32, f64) = (dice.random_range(3..40), power(dice, -5.0, 2.0));
            let corner = |k: u32| {
                let (sine, cosine) = (std::f64::consts::TAU * f64::from(k / 2) / f64::from(sides)).sin_cos();
                DVec3::new(cosine, sine, f64::from(k % 2) * height)
            };
            around(&(0..2 * sides).map(corner).collect::<Vec<_>>())
        }
        4 => {
            // Seen from the middle, each corner is nearer by a share that depends on its place alone, so that the mesh stays closed.
            let (count, depth) = (dice.random_range(8..60), dice.random::<f64>());
            let wave = |at: DVec3| (37.0 * at.x + 91.0 * at.y + 53.0 * at.z).sin();
            mapped(around(&ball(dice, count)), |at| at * (1.0 - 0.4 * depth * (1.0 + wave(at))))
        }
        5 => {
            let (away, turned) = (point(dice), turn(dice));
            [block(), mapped(block(), |corner| turned * corner + away)].concat()
        }
        6 => {
            // On few places of a lattice, many points are equal, on a line or in a plane.
            let (count, noise) = (dice.random_range(4..60), power(dice, -14.0, -1.0));
            around(
                &(0..count)
                    .map(|_| (3.0 * point(dice)).floor() + noise * point(dice))
                    .collect::<Vec<_>>(),
            )
        }
        _ => {
            let count = dice.random_range(1..12);
            (0..count).map(|_| [point(dice), point(dice), point(dice)]).collect()
        }
    }
}

/// Spoils a mesh in one way.
fn spoil(mesh: &mut Mesh, dice: &mut ChaCha12Rng) {
    if mesh.is_empty() {
        return;
    }
    let at = dice.random_range(0..mesh.len());
    match dice.random_range(0..10) {
        0 => {
            mesh.remove(at);
        }
        1 => mesh[at].swap(1, 2),
        2 => mesh.push(mesh[at]),
        3 => mesh[at][0] += power(dice, -14.0, 0.0) * point(dice),
        4 => mesh[at][1].y = f64::NAN,
        5 => mesh[at][2].z = f64::INFINITY,
        6 => mesh.push([mesh[at][0], mesh[at][0], mesh[at][1]]),
        7 => mesh.iter_mut().for_each(|triangle| triangle.swap(0, 1)),
        8 => {
            let stretch = DVec3::new(power(dice, -7.0, 7.0), power(dice, -7.0, 7.0), 1.0);
            mesh.iter_mut().flatten().for_each(|corner| *corner *= stretch);
        }
        _ => mesh.truncate(at),
    }
}

/// Writes an OBJ file, and returns the smallest width of the mesh along an axis.
fn written(mesh: &[[DVec3; 3]], file: &Path) -> f64 {
    let mut text = String::from("# random\n");
    for (k, triangle) in mesh.iter().enumerate() {
        for corner in triangle {
            writeln!(text, "v {:e} {:e} {:e}", corner.x, corner.y, corner.z).unwrap();
        }
        writeln!(text, "f {} {} {}", 3 * k + 1, 3 * k + 2, 3 * k + 3).unwrap();
    }
    std::fs::write(file, text).unwrap();
    let corners = || mesh.iter().flatten().filter(|corner| corner.is_finite());
    let low = corners().fold(DVec3::INFINITY, |low, corner| low.min(*corner));
    let high = corners().fold(DVec3::NEG_INFINITY, |high, corner| high.max(*corner));
    let width = (high - low).min_element();
    if width.is_finite() && width > 0.0 { width } else { 1.0 }
}

/// A source by numbers, as a key, with its smallest length; a capsule has no rounding.
fn by_numbers(dice: &mut ChaCha12Rng) -> (String, f64) {
    let [a, b, c] = [0; 3].map(|_| power(dice, -2.0, 1.0));
    let least = a.min(b).min(c);
    let sides = if happens(dice, 0.5) {
        format!(", sides = {}", dice.random_range(3..18))
    } else {
        String::new()
    };
    match dice.random_range(0..6) {
        0 => (format!("box = [{a:e}, {b:e}, {c:e}]"), least),
        1 => (format!("tetrahedron = {a:e}"), 0.3 * a),
        2 => (format!("cylinder = {{ radius = {a:e}, height = {b:e}{sides} }}"), a.min(b)),
        3 => (format!("capsule = {{ radius = {a:e}, length = {b:e} }}"), 0.0),
        4 => (
            format!("tablet = {{ radius = {a:e}, band = {b:e}, cap = {:e}{sides} }}", a.min(c)),
            a.min(b),
        ),
        _ => {
            let (neighbors, seed) = (dice.random_range(8..60), dice.random_range(0..1000));
            (
                format!("rock = {{ widths = [{a:e}, {b:e}, {c:e}], neighbors = {neighbors}, seed = {seed} }}"),
                least,
            )
        }
    }
}

/// The source of a shape, as keys, with a length of which a share is a good rounding radius. Files go into the folder.
fn source(dice: &mut ChaCha12Rng, folder: &Path) -> (String, f64) {
    let which = dice.random::<f64>();
    if which < 0.3 {
        return by_numbers(dice);
    }
    if which < 0.34 {
        // Their union is measured, which takes long, so they have few faces.
        let count = dice.random_range(1..4);
        let (mut names, mut least) = (Vec::new(), f64::INFINITY);
        for k in 0..count {
            let (edges, away) = (DVec3::new(1.0, power(dice, -1.0, 0.0), power(dice, -1.0, 0.0)), 0.6 * point(dice));
            let turned = turn(dice);
            let mut part = mapped(block(), |corner| turned * (corner * edges) + away);
            if happens(dice, 0.1) {
                spoil(&mut part, dice);
            }
            names.push(format!("\"part{k}.obj\""));
            least = least.min(written(&part, &folder.join(format!("part{k}.obj"))).min(edges.min_element()));
        }
        return (format!("parts = [{}]", names.join(", ")), least);
    }
    let mut mesh = mesh(dice);
    if happens(dice, 0.4) {
        spoil(&mut mesh, dice);
    }
    if happens(dice, 0.2) {
        let (factor, away) = (power(dice, -30.0, 30.0), power(dice, -3.0, 9.0) * point(dice));
        mesh = mapped(mesh, |corner| (corner + away) * factor);
    }
    let width = written(&mesh, &folder.join("stone.obj"));
    let faces = if happens(dice, 0.3) {
        format!("\nfaces = {}", dice.random_range(4..100))
    } else {
        String::new()
    };
    (format!("mesh = \"stone.obj\"{faces}"), width)
}

/// A scene with three grains of a random shape and a floor.
fn scene(dice: &mut ChaCha12Rng, folder: &Path) -> String {
    let (mut keys, width) = source(dice, folder);
    if width > 0.0 {
        let share = if happens(dice, 0.05) {
            power(dice, -30.0, 30.0)
        } else {
            0.6 * power(dice, -4.0, 0.0)
        };
        write!(keys, "\nrounding = {:e}", share * width).unwrap();
    }
    if happens(dice, 0.2) {
        let size = if width > 0.0 { width } else { 1.0 };
        let (volume, center) = (size.powi(3) * power(dice, -1.0, 1.0), 0.3 * size * point(dice));
        let [x, y, z] = [0; 3].map(|_| 0.2 * volume * size * size * dice.random::<f64>());
        write!(
            keys,
            "\nsolid = {{ volume = {volume:e}, center = [{:e}, {:e}, {:e}], inertia = [{x:e}, {y:e}, {z:e}, 0, 0, {:e}] }}",
            center.x,
            center.y,
            center.z,
            0.1 * z
        )
        .unwrap();
    }
    if happens(dice, 0.2) {
        keys += "\nunit = \"mm\"\nrotate = { axis = [1, 2, -3], angle = \"50 deg\" }";
    }
    let radius = if happens(dice, 0.3) {
        format!("radius = {:e}\n", power(dice, -4.0, 1.0))
    } else {
        String::new()
    };
    format!(
        "[run]\nuntil = 1\nthreads = 1\ndevice = \"cpu\"\n[world]\ngravity = [0, 0, 0]\n\
         [material.stone]\ndensity = 2500\nyoungs_modulus = 1e9\npoisson_ratio = 0.2\n\
         [interaction.stone-stone]\nrestitution = 0.5\nfriction = 0.3\n[shape.stone]\nkind = \"polyhedron\"\n{keys}\n\
         [grains.stones]\nmaterial = \"stone\"\nshape = \"stone\"\nat = [[0, 0, 1e14], [3e14, 0, 1e14], [6e14, 0, 1e14]]\n{radius}\
         [wall.floor]\nmaterial = \"stone\"\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n"
    )
}

/// Vertices of the core of a grain with this orientation and radius, about its center \[m\].
fn vertices(shape: &PolyhedralShape, turned: DQuat, radius: f64) -> Vec<DVec3> {
    shape.vertices.iter().map(|vertex| turned * DVec3::from(*vertex) * radius).collect()
}

/// A point of the core that is farthest along a direction: of a face or an edge its middle, of a union a vertex.
fn farthest(shape: &PolyhedralShape, vertices: &[DVec3], along: DVec3, radius: f64) -> DVec3 {
    let high = vertices.iter().map(|vertex| vertex.dot(along)).fold(f64::NEG_INFINITY, f64::max);
    let mut top = vertices.iter().filter(|vertex| vertex.dot(along) >= high - 1e-12 * radius);
    let Some(&first) = top.next() else { return DVec3::ZERO };
    if !shape.parts.is_empty() {
        return first;
    }
    let (sum, count) = top.fold((first, 1.0), |(sum, count), vertex| (sum + *vertex, count + 1.0));
    sum / count
}

/// Lets two grains and a grain and the floor overlap by a share of the rounding radius, and looks at the forces.
fn touch(scene: Scene, dice: &mut ChaCha12Rng) {
    let Scene { mut world, settings, .. } = scene;
    let shape = world.shapes[0].clone();
    assert_eq!(shape.flaw(), None);
    let (radius, mass) = (world.grains.radius[0], world.grains.masses[&0]);
    assert!(mass > 0.0 && mass.is_finite(), "{mass}");
    let turns = [0; 3].map(|_| turn(dice));
    let [first, second, third] = turns.map(|turned| vertices(&shape, turned, radius));
    let face = shape.faces.first().filter(|_| happens(dice, 0.5));
    let along = face.map_or_else(
        || point(dice),
        |face| {
            let [a, b, c] = [0, 1, 2].map(|k| first[face[k] as usize]);
            (b - a).cross(c - a)
        },
    );
    let along = along.normalize_or(DVec3::Z);
    let is_sphere = happens(dice, 0.2);
    let rounding = shape.rounding * radius;
    let (overlap, other) = (OVERLAP * rounding, if is_sphere { radius } else { rounding });
    let high = DVec3::new(0.0, 0.0, 50.0 * radius);
    let on_second = if is_sphere {
        DVec3::ZERO
    } else {
        farthest(&shape, &second, -along, radius)
    };
    let beside = high + farthest(&shape, &first, along, radius) + (rounding + other - overlap) * along - on_second;
    let low = third.iter().map(|vertex| vertex.z).fold(f64::INFINITY, f64::min);
    let on_floor = DVec3::new(20.0 * radius, 0.0, rounding - overlap - low);
    world.grains.position = [high, beside, on_floor].map(|center| center.to_array()).to_vec();
    world.grains.orientation = turns.map(|turned| [turned.w, turned.x, turned.y, turned.z]).to_vec();
    if is_sphere {
        world.grains.shape[1] = 0;
    }
    if happens(dice, 0.3) {
        let corner = |x: f64, y: f64| [60.0 * radius * x, 60.0 * radius * y, 0.0];
        let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
        world.walls[0].shape = WallShape::Mesh(vec![[a, b, c], [a, c, d]]);
    }

    // More contacts than there is room for are an error of the step.
    let are_too_many = |message: &str| message.contains("contacts, and at most 32 are possible; use");
    let mut simulation = match Simulation::new(world, settings) {
        Ok(simulation) => simulation,
        Err(refusal) => {
            let message = refusal.to_string();
            let is_usual = (1e-9..1e9).contains(&radius);
            assert!(!is_usual || are_too_many(&message), "{message}");
            return;
        }
    };
    let seen = simulation.snapshot();
    let [forces, torques] = [&seen.force, &seen.torque].map(|column| [0, 1, 2].map(|k| DVec3::from(column[k])));
    assert!(
        forces.iter().chain(&torques).all(|vector| vector.is_finite()),
        "{forces:?} {torques:?}"
    );
    let [push, back, lift] = forces;
    assert!(push != DVec3::ZERO && push == -back, "{push} {back}");
    assert!(lift.z > 0.0, "{lift}");
    // Angular momentum stays, too.
    let moment = torques[0] + torques[1] + (high - beside).cross(push);
    assert!(moment.length() <= 1e-6 * push.length() * radius, "{moment} at a push of {push}");
    match simulation.step() {
        Ok(()) => {
            let after = simulation.snapshot();
            assert!(after.position.as_flattened().iter().all(|x| x.is_finite()));
        }
        Err(stopped) => {
            let message = stopped.to_string();
            assert!(are_too_many(&message), "{message}");
        }
    }
}

/// Whether the shape of this seed is sound; otherwise it was refused.
fn is_sound(seed: u64, folder: &Path) -> bool {
    let mut dice = ChaCha12Rng::seed_from_u64(seed);
    let text = scene(&mut dice, folder);
    let outcome = catch_unwind(AssertUnwindSafe(|| match load_text(&text, &folder.join("scene.toml"), &[]) {
        Ok(scene) => {
            touch(scene, &mut dice);
            true
        }
        Err(refused) => {
            let has_remedies = refused.list().iter().all(|found| !found.remedy.is_empty());
            assert!(has_remedies && !refused.list().is_empty(), "no remedy in\n{}", refused.plain());
            false
        }
    }));
    outcome.unwrap_or_else(|_| {
        let mesh = std::fs::read_to_string(folder.join("stone.obj")).unwrap_or_default();
        panic!("shape {seed} failed as the message above says:\n{text}\n{mesh}")
    })
}

/// Tries so many shapes from this seed on, on all cores: a tenth of them must be sound, and a tenth must be refused.
fn try_shapes(first: u64, count: u64) {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let sound: u64 = std::thread::scope(|scope| {
        let work = |worker: usize| {
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                let seeds = (first..first + count).skip(worker).step_by(workers);
                seeds.filter(|&seed| is_sound(seed, folder.path())).count() as u64
            })
        };
        let all: Vec<_> = (0..workers).map(work).collect();
        all.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert!(
        (count / 10..=count - count / 10).contains(&sound),
        "{sound} of {count} shapes are sound"
    );
}

#[test]
fn random_shapes_are_sound_or_refused() {
    try_shapes(0, 250);
}

#[test]
fn a_hundred_thousand_random_shapes_are_sound_or_refused() {
    let number = |name: &str, otherwise: u64| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    try_shapes(number("SEIXO_FIRST_SHAPE", 1000), number("SEIXO_SHAPES", 100_000));
}
