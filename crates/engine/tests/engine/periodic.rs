//! Periodic sides and Lees–Edwards (sliding) sides.

use crate::beds;
use crate::cells::settings;
use crate::devices::after;
use seixo_engine::Simulation;
use seixo_engine::state::State;
use seixo_engine::world::{
    DeviceChoice, Domain, Frustum, Grains, Interaction, LeavingPolicy, Precision, Search, Settings, Shear, Triangle, Vec3, Vibration, Wall,
    WallMotion, WallShape, World,
};
use seixo_laws::contact::TangentialLaw;

const RADIUS: f64 = 5e-4;

/// Moving grains of two sizes throughout a periodic box, with a solid fraction of 0.45.
fn gas(count: usize, tangential: TangentialLaw, restitution: f64, shear: Option<Shear>) -> World {
    let side = (count as f64).cbrt().ceil() as usize;
    let spacing = 2.12 * RADIUS;
    let length = side as f64 * spacing;
    let mut world = beds::falling(8, tangential);
    world.walls.clear();
    world.gravity = [0.0; 3];
    world.grains = Grains::default();
    for k in 0..count {
        let cell = [k % side, k / side % side, k / side / side];
        let center = [0, 1, 2].map(|axis| (cell[axis] as f64 + 0.5) * spacing + 2e-5 * beds::noise((3 * k + axis) as u64));
        let mut velocity = [0, 1, 2].map(|axis| 0.05 * beds::noise((1000 * k + axis) as u64));
        if let Some(shear) = shear {
            velocity[shear.flow] += shear.rate * (center[shear.gradient] - 0.5 * length);
        }
        let radius = if k % 7 == 0 { 0.6 * RADIUS } else { RADIUS };
        world
            .grains
            .push(k as u32, center, velocity, [0.0, 0.0, 20.0 * beds::noise(k as u64)], radius, 0, 0);
    }
    world.interactions = vec![Some(Interaction {
        tangential,
        restitution,
        ..beds::interaction(tangential)
    })];
    world.domain = Some(Domain {
        periodic: [true; 3],
        shear,
        ..Domain::open([0.0; 3], [length; 3], LeavingPolicy::Error)
    });
    world
}

const SHEAR: Shear = Shear {
    flow: 0,
    gradient: 2,
    rate: 20.0,
};

fn saved(world: &World, threads: usize, steps: u64) -> State {
    after(world, settings(threads), steps).save().unwrap()
}

/// Largest distance between equal grains of two simulations, to the nearest image, over the radius.
fn apart(a: &Simulation, b: &Simulation, shift: [f64; 3], length: f64) -> f64 {
    let (a, b) = (a.snapshot(), b.snapshot());
    assert_eq!(a.id, b.id);
    let mut most = 0.0f64;
    for (x, y) in a.position.iter().zip(&b.position) {
        for axis in 0..3 {
            let d = y[axis] - x[axis] - shift[axis];
            most = most.max((d - length * (d / length).round()).abs() / RADIUS);
        }
    }
    most
}

#[test]
fn momentum_and_energy_are_kept_in_a_box_without_sides() {
    let world = gas(1000, TangentialLaw::Mindlin, 1.0, None);
    let mut world = World {
        interactions: vec![world.interactions[0].clone().map(|pair| Interaction { friction: 0.0, ..pair })],
        ..world
    };
    let start = after(&world, settings(2), 0);
    let end = after(&world, settings(2), 4000);
    let (before, now) = (start.momentum().linear, end.momentum().linear);
    let size: f64 = start.snapshot().mass.iter().sum::<f64>() * 0.05;
    for axis in 0..3 {
        assert!((now[axis] - before[axis]).abs() < 1e-12 * size, "{before:?} {now:?}");
    }
    let ledger = end.ledger();
    assert!(end.snapshot().force.iter().filter(|f| f.iter().any(|&x| x != 0.0)).count() > 100);
    assert!(ledger.residual.abs() < 1e-4 * ledger.initial, "{ledger:?}");
    // The ledger also closes with dissipation.
    world.interactions = gas(1, TangentialLaw::Mindlin, 0.5, None).interactions;
    let ledger = after(&world, settings(2), 4000).ledger();
    assert!(ledger.residual.abs() < 1e-3 * ledger.normal_damping, "{ledger:?}");
}

#[test]
fn where_the_sides_are_does_not_matter() {
    for tangential in [TangentialLaw::Mindlin, TangentialLaw::None] {
        let world = gas(700, tangential, 0.7, None);
        let length = world.domain.as_ref().unwrap().max[0];
        let shift = [0.31 * length, 0.57 * length, 0.83 * length];
        let mut shifted = world.clone();
        for center in &mut shifted.grains.position {
            for axis in 0..3 {
                center[axis] = (center[axis] + shift[axis]).rem_euclid(length);
            }
        }
        let (a, b) = (after(&world, settings(2), 1500), after(&shifted, settings(2), 1500));
        assert!(
            a.contacts() > 30 && a.contacts() == b.contacts(),
            "{} {}",
            a.contacts(),
            b.contacts()
        );
        // Coordinates round differently at shifted positions, and collisions amplify it.
        let off = apart(&a, &b, shift, length);
        assert!(off < 1e-7, "{off:e}");
    }
}

#[test]
fn all_searches_see_across_the_sides() {
    let world = gas(300, TangentialLaw::Mindlin, 0.7, None);
    let length = world.domain.as_ref().unwrap().max[0];
    let run = |search| after(&world, Settings { search, ..settings(2) }, 800);
    let all = run(Search::BruteForce);
    for search in Search::ALL {
        let off = apart(&all, &run(search), [0.0; 3], length);
        assert!(off < 1e-8, "{search:?}: {off:e}");
    }
}

#[test]
fn sheared_grains_move_with_the_flow_and_the_ledger_closes() {
    let world = gas(2000, TangentialLaw::Mindlin, 0.8, Some(SHEAR));
    let length = world.domain.as_ref().unwrap().max[0];
    let mut simulation = after(&world, settings(2), 0);
    let (mut slope, mut samples) = (0.0, 0);
    // A strain of 4, whose first half removes the memory of the initial state.
    for sample in 0..40 {
        simulation.advance(5000).unwrap();
        let grains = simulation.snapshot();
        if sample < 20 {
            continue;
        }
        let middle = 0.5 * length;
        let (mut above, mut below) = (0.0, 0.0);
        for (x, v) in grains.position.iter().zip(&grains.velocity) {
            above += (x[2] - middle) * v[0];
            below += (x[2] - middle) * (x[2] - middle);
        }
        slope += above / below;
        samples += 1;
    }
    let rate = slope / f64::from(samples);
    // Fluctuations of 2000 grains over 20 samples: single samples scatter by some 3 %.
    assert!((rate / SHEAR.rate - 1.0).abs() < 0.05, "{rate}");
    let ledger = simulation.ledger();
    assert!(
        ledger.wall_work > 0.0 && ledger.normal_damping > 0.5 * ledger.wall_work,
        "{ledger:?}"
    );
    assert!(ledger.residual.abs() < 1e-3 * ledger.wall_work, "{ledger:?}");
}

/// Neither grain moves, so the lists last for hundreds of steps. Only the sides bring an image of one to the other.
#[test]
fn grains_at_rest_touch_as_soon_as_sides_slide_them_together() {
    let mut world = gas(64, TangentialLaw::Mindlin, 0.7, Some(SHEAR));
    let length = world.domain.as_ref().unwrap().max[0];
    let lift = 0.9 * RADIUS;
    // As far along the flow as surfaces are when they touch, and as far as sides slide in 300 steps.
    let ahead = ((2.0 * RADIUS).powi(2) - (2.0 * lift).powi(2)).sqrt() + 300.0 * 1e-6 * SHEAR.rate * length;
    world.grains = Grains::default();
    let centers = [[0.3 * length, RADIUS, lift], [0.3 * length + ahead, RADIUS, length - lift]];
    for (id, center) in (0..).zip(centers) {
        world.grains.push(id, center, [0.0; 3], [0.0; 3], RADIUS, 0, 0);
    }
    let pushed = |steps: u64| {
        let simulation = after(&world, settings(1), steps);
        assert_eq!(simulation.rebuilds(), after(&world, settings(1), 0).rebuilds());
        let grains = simulation.snapshot();
        grains.velocity.iter().map(|velocity| velocity[0]).fold(0.0, f64::max)
    };
    assert_eq!(pushed(290), 0.0);
    assert!(pushed(330) > 0.0, "they passed through each other");
}

#[test]
fn threads_and_resuming_change_no_bit() {
    for shear in [None, Some(SHEAR)] {
        let world = gas(2500, TangentialLaw::Mindlin, 0.7, shear);
        let whole = saved(&world, 1, 3000);
        assert!(whole == saved(&world, 3, 3000), "threads");
        for split in [1, 333, 2501] {
            let state = saved(&world, 2, split);
            let mut rest = Simulation::restore(world.clone(), settings(3), &state).unwrap();
            rest.advance(3000 - split).unwrap();
            assert!(whole == rest.save().unwrap(), "split at {split}");
        }
    }
}

#[test]
fn a_gpu_sees_the_same_images() {
    for (tangential, shear, decomposition_invariant) in [
        (TangentialLaw::Mindlin, None, false),
        (TangentialLaw::None, None, false),
        (TangentialLaw::Mindlin, Some(SHEAR), false),
        (TangentialLaw::None, Some(SHEAR), false),
        (TangentialLaw::Mindlin, Some(SHEAR), true),
    ] {
        let world = gas(500, tangential, 0.7, shear);
        let length = world.domain.as_ref().unwrap().max[0];
        let on_gpu = Settings {
            device: DeviceChoice::Gpu(None),
            precision: Some(Precision::F64),
            decomposition_invariant,
            ..settings(0)
        };
        let (here, there) = (after(&world, settings(2), 1500), after(&world, on_gpu, 1500));
        assert!(there.rebuilds() > 2 && there.contacts() > 15);
        let off = apart(&here, &there, [0.0; 3], length);
        assert!(off < 1e-7, "{tangential:?} {shear:?}: {off:e}");
        let (a, b) = (here.ledger(), there.ledger());
        let scale = a.initial.abs() + a.wall_work.abs();
        // The GPU counts the first and the last time of the work of sliding sides in full: some 1e-3 of it after so few steps.
        assert!((a.wall_work - b.wall_work).abs() < 2e-3 * scale, "{a:?} {b:?}");
        assert!((a.normal_damping - b.normal_damping).abs() < 1e-6 * scale, "{a:?} {b:?}");
    }
}

#[test]
fn a_domain_too_small_for_images_is_refused() {
    let mut world = gas(1, TangentialLaw::Mindlin, 0.7, None);
    world.domain.as_mut().unwrap().max = [2.5 * RADIUS; 3];
    world.grains.position[0] = [RADIUS; 3];
    let refused = Simulation::new(world, settings(1)).err().unwrap().to_string();
    assert!(refused.contains("along x") && refused.contains("world.domain"), "{refused}");
}

/// Σ f·l over the pairs in contact \[J\].
fn virial(simulation: &mut Simulation) -> f64 {
    let contacts = simulation.contacts_now().unwrap();
    contacts
        .iter()
        .map(|contact| (0..3).map(|k| contact.force()[k] * contact.branch[k]).sum::<f64>())
        .sum()
}

/// Virtual work: the stored contact energy changes by −Σ f·l for a small relative change of all lengths. Energy and forces are two different formulas
/// of the law, and many of the pairs cross the sides.
#[test]
fn the_virial_is_what_compression_costs() {
    for tangential in [TangentialLaw::None, TangentialLaw::Mindlin] {
        let stretched = |share: f64| {
            let mut world = gas(64, tangential, 1.0, None);
            for length in world.grains.position.iter_mut().flatten() {
                *length *= share;
            }
            world.grains.velocity.fill([0.0; 3]);
            world.grains.angular_velocity.fill([0.0; 3]);
            let domain = world.domain.as_mut().unwrap();
            domain.max = domain.max.map(|length| share * length);
            Simulation::new(world, settings(1)).unwrap()
        };
        let stored = |share: f64| stretched(share).ledger().elastic_normal;
        let (share, change) = (0.9, 1e-5);
        let work = -(stored(share + change) - stored(share - change)) * share / (2.0 * change);
        let virial = virial(&mut stretched(share));
        assert!(virial > 0.0 && (virial / work - 1.0).abs() < 1e-5, "{virial} {work}");
    }
}

/// Length of a cell of the ridged floor \[m\].
const CELL: f64 = 10.0 * RADIUS;

/// A floor along x with a ridge, half a radius high, at the start of each of these cells.
fn ridges(cells: std::ops::Range<i32>) -> WallShape {
    let (height, width, deep) = (0.5 * RADIUS, 0.2 * CELL, 10.0 * RADIUS);
    let profile = |cell: i32| {
        let at = f64::from(cell) * CELL;
        [(0.0, 0.0), (0.0, height), (width, height), (width, 0.0), (CELL, 0.0)].map(|(x, z)| [at + x, z])
    };
    let strip = |[[x, z], [u, w]]: [[f64; 2]; 2]| -> [Triangle; 2] {
        let [a, b, c, d] = [[x, -deep, z], [u, -deep, w], [u, deep, w], [x, deep, z]];
        [[a, b, c], [a, c, d]]
    };
    let corners: Vec<[[f64; 2]; 5]> = cells.map(profile).collect();
    let pairs = corners.iter().flat_map(|corners| corners.windows(2).map(|pair| [pair[0], pair[1]]));
    WallShape::Mesh(pairs.flat_map(strip).collect())
}

/// One ball that moves over or in a wall, in a domain that is periodic along an axis from `low` on, or without a domain.
fn on_a_wall((at, velocity): (Vec3, Vec3), shape: WallShape, motion: WallMotion, sides: Option<(usize, f64)>) -> World {
    let mut world = beds::falling(1, TangentialLaw::Mindlin);
    world.gravity = [0.0, 0.0, -9.81];
    world.grains = Grains::default();
    world.grains.push(0, at, velocity, [0.0; 3], RADIUS, 0, 0);
    world.walls = vec![Wall {
        name: "floor".into(),
        material: 0,
        shape,
        motion,
        specific_wear_rate: 0.0,
    }];
    world.domain = sides.map(|(axis, low)| {
        let along = |k: usize, periodic: f64, open: f64| if k == axis { periodic } else { open };
        Domain {
            periodic: [0, 1, 2].map(|k| k == axis),
            ..Domain::open(
                [0, 1, 2].map(|k| along(k, low, -1.0)),
                [0, 1, 2].map(|k| along(k, low + CELL, 1.0)),
                LeavingPolicy::Error,
            )
        }
    });
    world
}

/// Asserts that the ball, its velocity and its angular velocity, and the energies are equal in both, except for whole periods along an axis.
#[track_caller]
fn assert_same_way(open: &World, periodic: &World, axis: usize, steps: u64, what: &str) -> [f64; 2] {
    let start = |world: &World| {
        // Coordinates along the axis are relative to the domain.
        let mut world = world.clone();
        if let Some(domain) = world.domain {
            for place in &mut world.grains.position {
                place[axis] = domain.min[axis] + (place[axis] - domain.min[axis]).rem_euclid(CELL);
            }
        }
        Simulation::new(world, settings(1)).unwrap_or_else(|refusal| panic!("{what}: {refusal}"))
    };
    let (mut open, mut periodic) = (start(open), start(periodic));
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    for _ in 0..20 {
        open.advance(steps / 20).unwrap();
        periodic.advance(steps / 20).unwrap_or_else(|stop| panic!("{what}: {stop}"));
        let (a, b) = (open.snapshot(), periodic.snapshot());
        let way = a.position[0][axis] - b.position[0][axis];
        range = [range[0].min(a.position[0][axis]), range[1].max(a.position[0][axis])];
        for k in 0..3 {
            let lengths = if k == axis { CELL * (way / CELL).round() } else { 0.0 };
            let apart = a.position[0][k] - b.position[0][k] - lengths;
            assert!(apart.abs() < 1e-9, "{what}: {apart:e} m along axis {k} at {} s", open.time());
            let apart = a.velocity[0][k] - b.velocity[0][k];
            assert!(apart.abs() < 1e-7, "{what}: {apart:e} m/s along axis {k} at {} s", open.time());
        }
    }
    let (a, b) = (open.ledger(), periodic.ledger());
    assert!(a.normal_damping.abs() > 0.0, "{what}: nothing was hit");
    assert!((a.normal_damping / b.normal_damping - 1.0).abs() < 1e-5, "{what}: {a:?} {b:?}");
    assert!((a.friction / b.friction - 1.0).abs() < 1e-5, "{what}: {a:?} {b:?}");
    range
}

#[test]
fn a_ball_meets_the_images_of_a_mesh_wherever_sides_are_put() {
    let ball = ([0.45 * CELL, 0.0, 0.999 * RADIUS], [0.1, 0.0, 0.0]);
    let shaken = WallMotion {
        vibrations: vec![Vibration {
            amplitude: [0.0, 0.0, 0.01 * RADIUS],
            frequency: 200.0,
            phase: 0.0,
        }],
        ..WallMotion::default()
    };
    for motion in [WallMotion::default(), shaken] {
        let open = on_a_wall(ball, ridges(-3..4), motion.clone(), None);
        // Sides at the face of a ridge, behind which the mesh ends; on the flat part, where the ball passes, first while it slides; and a mesh over
        // many cells, so that it overlaps with its images.
        for (low, cells) in [(0.0, 0..1), (0.5 * CELL, 0..1), (-0.3 * CELL, 0..1), (0.0, -2..3)] {
            let what = format!("side at {low}, cells {cells:?}, {} vibrations", motion.vibrations.len());
            let periodic = on_a_wall(ball, ridges(cells), motion.clone(), Some((0, low)));
            let [_, far] = assert_same_way(&open, &periodic, 0, 60_000, &what);
            assert!(far > 0.8 * CELL, "{what}: {far} m is not at the next ridge");
        }
    }
}

#[test]
fn a_ball_passes_the_sides_of_a_drum_that_turns() {
    let drum = |base: f64, height: f64| {
        WallShape::Round(vec![Frustum {
            base: [0.0, base, 0.0],
            axis: [0.0, 1.0, 0.0],
            height,
            radii: [6.0 * RADIUS; 2],
        }])
    };
    let turning = WallMotion {
        angular_velocity: [0.0, 40.0, 0.0],
        ..WallMotion::default()
    };
    let ball = ([0.0, 0.7 * CELL, -5.001 * RADIUS], [0.0, 0.2, 0.0]);
    let open = on_a_wall(ball, drum(-2.0 * CELL, 9.0 * CELL), turning.clone(), None);
    for (low, base) in [(0.0, 0.0), (0.4 * CELL, 0.0)] {
        let periodic = on_a_wall(ball, drum(base, CELL), turning.clone(), Some((1, low)));
        let what = format!("side at {low}");
        let [near, far] = assert_same_way(&open, &periodic, 1, 60_000, &what);
        assert!(far - near > CELL, "{what}: it went from {near} m to {far} m");
    }
}

#[test]
fn a_gpu_has_the_images_of_walls() {
    // It slides through a side before the ridge, and hits the ridge's image.
    let ball = ([0.88 * CELL, 0.0, 0.999 * RADIUS], [0.1, 0.0, 0.0]);
    let world = on_a_wall(ball, ridges(0..1), WallMotion::default(), Some((0, -0.1 * CELL)));
    let on_gpu = Settings {
        device: DeviceChoice::Gpu(None),
        precision: Some(Precision::F64),
        ..settings(0)
    };
    let (here, there) = (after(&world, settings(1), 2500), after(&world, on_gpu, 2500));
    let (a, b) = (here.snapshot(), there.snapshot());
    assert!(
        a.position[0][0] < 0.0 && a.velocity[0][0] < 0.05,
        "it passed and was slowed down: {a:?}"
    );
    for k in 0..3 {
        assert!((a.position[0][k] - b.position[0][k]).abs() < 1e-9, "{a:?} {b:?}");
        assert!((a.velocity[0][k] - b.velocity[0][k]).abs() < 1e-7, "{a:?} {b:?}");
    }
}

#[test]
fn walls_whose_images_would_move_otherwise_are_refused() {
    let ball = ([0.5 * CELL, 0.0, 1.5 * RADIUS], [0.0; 3]);
    let refused = |shape: WallShape, motion: WallMotion, shear: Option<Shear>| {
        let mut world = on_a_wall(ball, shape, motion, Some((0, 0.0)));
        if shear.is_some() {
            let domain = world.domain.as_mut().unwrap();
            (domain.periodic, domain.shear) = ([true; 3], shear);
        }
        Simulation::new(world, settings(1)).err().map(|refusal| refusal.to_string())
    };
    let moving = |velocity: Vec3, stop: Option<f64>| WallMotion {
        velocity,
        stop,
        ..WallMotion::default()
    };
    let turning = |through: f64, axis: Vec3| WallMotion {
        angular_velocity: axis,
        through: [through, 0.0, 0.0],
        ..WallMotion::default()
    };
    let reported = refused(ridges(0..1), moving([0.1, 0.0, 0.0], None), None).unwrap();
    assert!(
        reported.contains("wall floor: it moves along x") && reported.contains("let its surface run"),
        "{reported}"
    );
    let reported = refused(ridges(0..1), turning(0.0, [0.0, 1.0, 0.0]), None).unwrap();
    assert!(
        reported.contains("turns about an axis") && reported.contains("open these sides"),
        "{reported}"
    );
    let across = Shear {
        flow: 2,
        gradient: 0,
        rate: 20.0,
    };
    let reported = refused(ridges(0..1), WallMotion::default(), Some(across)).unwrap();
    assert!(reported.contains("slide"), "{reported}");
    let plane = |normal: Vec3| WallShape::Plane { point: [0.0; 3], normal };
    let reported = refused(plane([1.0, 0.0, 0.0]), WallMotion::default(), None).unwrap();
    assert!(reported.contains("stands across the sides along x"), "{reported}");
    // Walls that only rise, move slightly or rotate away from the sides are valid; so are a plane along them, and a wall that grains never reach.
    let sphere = WallShape::Sphere {
        center: [0.5 * CELL, 0.0, -1.5 * RADIUS],
        radius: RADIUS,
    };
    let sound = [
        (ridges(0..1), moving([0.0, 0.0, -0.1], None)),
        (ridges(0..1), moving([0.1, 0.0, 0.0], Some(0.01))),
        (
            ridges(0..1),
            WallMotion {
                until: Some(0.01),
                ..moving([0.1, 0.0, 0.0], None)
            },
        ),
        (sphere, turning(0.5 * CELL, [0.0, 1.0, 0.0])),
        (plane([0.0, 0.0, 1.0]), moving([0.3, 0.0, 0.0], None)),
    ];
    for (shape, motion) in sound {
        assert_eq!(refused(shape.clone(), motion.clone(), None), None, "{shape:?} {motion:?}");
    }
}
