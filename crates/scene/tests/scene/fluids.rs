//! Fluids: positions and initial state of their particles, and wall particles.

mod vessels;

use glam::DVec3;
use seixo_engine::world::{Fluids, PressureTolerance, Solver, WallShape};
use seixo_laws::fluid::Smoothing;
use seixo_scene::{Scene, load_text};
use std::collections::HashMap;
use std::f64::consts::PI;
use std::path::Path;

/// A tank that is half full, 20 mm between particles.
const WATER: &str = r#"[run]
until = 1
[world]
gravity = [0, 0, -9.81]
[fluid.water]
density = 1000
fill = { box = { min = [0, 0, 0], max = [0.4, 0.3, 0.2] } }
spacing = 0.02
[wall.tank]
box = { min = [0, 0, 0], max = [0.8, 0.3, 0.4], open = ["top"] }
"#;
const SPACING: f64 = 0.02;
const LAYERS: i64 = 4;

/// The scene of a text, which must be the same after writing and loading it.
fn scene_in(folder: &Path, text: &str) -> Scene {
    let first = load_text(text, &folder.join("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}\n{text}"));
    let again = load_text(&first.resolved, Path::new("/somewhere/else.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(again.resolved, first.resolved);
    assert!(again.world.fluids == first.world.fluids, "{}", first.resolved);
    first
}

fn scene(text: &str) -> Scene {
    scene_in(Path::new(""), text)
}

fn fluids(text: &str) -> Fluids {
    let scene = scene(text);
    assert!(scene.notices.is_empty(), "{:?}", scene.notices);
    scene.world.fluids.unwrap()
}

/// The lattice site of a position, counted from the origin.
fn site(place: &[f64; 3], spacing: f64) -> [i64; 3] {
    let site = place.map(|x| (x / spacing).floor());
    let off = (0..3).map(|axis| (place[axis] / spacing - site[axis] - 0.5).abs());
    assert!(off.fold(0.0, f64::max) < 1e-6, "{place:?} is on no site");
    site.map(|index| index as i64)
}

/// Number of wall particles at each site.
fn taken(fluids: &Fluids) -> HashMap<[i64; 3], u32> {
    let mut taken = HashMap::new();
    for place in &fluids.boundary.position {
        *taken.entry(site(place, fluids.spacing)).or_insert(0) += 1;
    }
    taken
}

/// Σ V W at the selected fluid particles: smallest and largest.
fn sums(fluids: &Fluids, is_asked: impl Fn(DVec3) -> bool) -> [f64; 2] {
    let smoother = Smoothing::Wendland.smoother(fluids.support, fluids.space());
    let cell = |place: &[f64; 3]| place.map(|x| (x / fluids.support).floor() as i64);
    let mut cells: HashMap<[i64; 3], Vec<DVec3>> = HashMap::new();
    for place in fluids.particles.position.iter().chain(&fluids.boundary.position) {
        cells.entry(cell(place)).or_default().push(DVec3::from(*place));
    }
    let sum = |place: &[f64; 3]| {
        let [x, y, z] = cell(place);
        let around = (0..27).map(|n| [x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1]);
        let distances = around
            .filter_map(|cell| cells.get(&cell))
            .flatten()
            .map(|other| other.distance(DVec3::from(*place)));
        let near = distances.filter(|distance| *distance < fluids.support);
        fluids.volume() * near.map(|distance| smoother.value(distance, Smoothing::Wendland)).sum::<f64>()
    };
    let asked: Vec<f64> = fluids
        .particles
        .position
        .iter()
        .filter(|place| is_asked(DVec3::from(**place)))
        .map(sum)
        .collect();
    assert!(asked.len() > 20, "only {} are asked for", asked.len());
    asked
        .into_iter()
        .fold([f64::INFINITY, 0.0], |[low, high], sum| [low.min(sum), high.max(sum)])
}

/// A lattice beside rings has a density error of at most a tenth; beside flat faces around a circle a little more.
fn assert_full(fluids: &Fluids, within: f64, is_asked: impl Fn(DVec3) -> bool) {
    let [low, high] = sums(fluids, is_asked);
    assert!(
        low > 1.0 - within && high < 1.0 + within,
        "the surroundings are from {low} to {high} full"
    );
}

#[test]
fn a_box_holds_a_particle_for_each_cube_of_the_spacing() {
    let fluids = fluids(WATER);
    let particles = &fluids.particles;
    assert_eq!(particles.len(), 20 * 15 * 10);
    assert_eq!(particles.id, (0..3000).collect::<Vec<u32>>());
    let mass = particles.len() as f64 * fluids.kinds[0].density * fluids.volume();
    assert!((mass - 24.0).abs() < 1e-9, "{mass}");
    let first: Vec<[i64; 3]> = particles.position.iter().map(|place| site(place, SPACING)).collect();
    assert_eq!(
        [first[0], first[1], first[20], first[300]],
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    );
    assert_eq!(fluids.slips, [false; 5]);
    assert_eq!((fluids.support, fluids.across), (0.08, None));
    let fall = (2.0 * 9.81 * 0.2_f64).sqrt();
    assert!((fluids.largest_speed - fall).abs() < 1e-9);
    assert!((fluids.kinds[0].sound_speed - 10.0 * fall).abs() < 1e-9);
    assert_eq!((fluids.kinds[0].viscosity, fluids.kinds[0].artificial_viscosity), (0.0, 0.02));
}

#[test]
fn keys_are_what_the_world_holds() {
    let keys = "spacing = \"2 cm\"\nviscosity = \"2 mPa s\"\nsupport = 3\nsmoothing = \"cubic_spline\"\nstate = \"linear\"\nfastest = \"3 m/s\"\n\
        sound_speed = \"40 m/s\"\nbackground_pressure = \"1 kPa\"\nxsph = 0.5\ndensity_diffusion = 0\nvelocity = [1, 0, 0]\ninitial_pressure = \"none\"";
    let text = WATER.replace("spacing = 0.02", keys).replace(
        "box = { min = [0, 0, 0], max = [0.8",
        "slip = \"free\"\nbox = { min = [0, 0, 0], max = [0.8",
    );
    let found = fluids(&text);
    let kind = &found.kinds[0];
    assert_eq!(found.smoothing, Smoothing::CubicSpline);
    assert_eq!((found.support, found.largest_speed, kind.sound_speed), (3.0 * 0.02, 3.0, 40.0));
    assert_eq!(
        (kind.viscosity, kind.artificial_viscosity, kind.xsph, kind.density_diffusion),
        (2e-3, 0.0, 0.5, 0.0)
    );
    assert!(found.particles.pressure.iter().all(|pressure| *pressure == 1000.0));
    assert!(found.particles.velocity.iter().all(|velocity| *velocity == [1.0, 0.0, 0.0]));
    assert_eq!(found.slips, [true; 5]);
    let resolved = scene(WATER).resolved;
    for line in [
        "support = 4.0",
        "smoothing = \"wendland\"",
        "solver = \"wcsph\"",
        "initial_pressure = \"hydrostatic\"",
        "slip = \"none\"",
    ] {
        assert!(resolved.contains(line), "no `{line}` in\n{resolved}");
    }
}

/// A fluid with a tension has no diffusion of density, a speed of sound ten times the speed of its surface, and a contact angle of 90°.
#[test]
fn a_surface_tension_chooses_what_goes_with_it() {
    let text = WATER.replace("spacing = 0.02", "spacing = 0.02\nsurface_tension = \"500 N/m\"");
    let kind = &fluids(&text).kinds[0];
    assert_eq!((kind.surface_tension, kind.density_diffusion), (500.0, 0.0));
    assert_eq!(kind.contact_angle, PI / 2.0);
    // √(500/(1000 · 0.04)) m/s.
    assert!((kind.sound_speed - 10.0 * 12.5f64.sqrt()).abs() < 1e-9, "{}", kind.sound_speed);
    let found = scene(&text.replace("N/m\"", "N/m\"\ncontact_angle = \"60 deg\"\ndensity_diffusion = 0.1"));
    let kind = &found.world.fluids.unwrap().kinds[0];
    assert!((kind.contact_angle - PI / 3.0).abs() < 1e-15);
    assert!(
        found.notices.iter().any(|notice| notice.contains("the tension of drops sinks")),
        "{:?}",
        found.notices
    );
    let dry = scene(&WATER.replace("spacing = 0.02", "spacing = 0.02\ncontact_angle = \"60 deg\""));
    assert!(
        dry.notices.iter().any(|notice| notice.contains("has no effect")),
        "{:?}",
        dry.notices
    );
    assert_eq!(dry.world.fluids.unwrap().kinds[0].density_diffusion, 0.1);
}

#[test]
fn incompressible_fluids_have_keys_of_their_own() {
    let text = WATER.replace("spacing = 0.02", "spacing = 0.02\nsolver = \"dfsph\"\niterations = 40");
    let found = fluids(&text);
    assert_eq!(found.solver, Solver::Incompressible);
    assert_eq!(
        found.projection,
        PressureTolerance {
            iterations: 40,
            ..PressureTolerance::default()
        }
    );
    assert_eq!((found.support, found.kinds[0].density_diffusion), (3.0 * 0.02, 0.0));
    let resolved = scene(&text).resolved;
    for line in [
        "solver = \"dfsph\"",
        "support = 3.0",
        "density_error = ",
        "divergence_error = 0.001",
        "iterations = 40",
    ] {
        assert!(resolved.contains(line), "no `{line}` in\n{resolved}");
    }
}

#[test]
fn walls_without_grains_need_no_material() {
    let world = scene(WATER).world;
    assert_eq!((world.materials.len(), world.interactions.len()), (1, 1));
    assert!(world.walls.iter().all(|wall| wall.material == 0));
}

#[test]
fn pressure_at_the_start_is_the_weight_of_what_is_above() {
    let bottom = |fluids: &Fluids| {
        let particles = fluids.particles.position.iter().zip(&fluids.particles.pressure);
        let lowest = particles.filter(|(place, _)| place[2] < SPACING);
        let pressures: Vec<f64> = lowest.map(|(_, pressure)| *pressure).collect();
        assert!(pressures.iter().all(|pressure| (pressure - pressures[0]).abs() < 1e-6));
        pressures[0]
    };
    let half_spacing = 1000.0 * 9.81 * 0.5 * SPACING;
    let found = bottom(&fluids(WATER));
    assert!((found - (1000.0 * 9.81 * 0.2 - half_spacing)).abs() < 1e-6, "{found}");
    // Oil on top, and air above all of it.
    let oil =
        "[fluid.oil]\ndensity = 800\nbackground_pressure = 50\nfill = { box = { min = [0, 0, 0.2], max = [0.4, 0.3, 0.3] } }\n[wall.tank]";
    let water = "spacing = 0.02\nbackground_pressure = 50";
    let found = bottom(&fluids(&WATER.replace("[wall.tank]", oil).replace("spacing = 0.02", water)));
    assert!(
        (found - (50.0 + 9.81 * (800.0 * 0.1 + 1000.0 * 0.2) - half_spacing)).abs() < 1e-6,
        "{found}"
    );
    // A falling drop does not load the pool below.
    let drop = "[fluid.drop]\ndensity = 1000\nfill = { sphere = { center = [0.2, 0.14, 0.32], radius = 0.06 } }\n[wall.tank]";
    let scene = scene(&WATER.replace("[wall.tank]", drop));
    let found = bottom(scene.world.fluids.as_ref().unwrap());
    assert!((found - (1000.0 * 9.81 * 0.2 - half_spacing)).abs() < 1e-6, "{found}");
    // With oblique gravity, by the depth below the highest particle.
    let aslant = fluids(&WATER.replace("[0, 0, -9.81]", "[3, 0, -4]"));
    let deepest = aslant.particles.pressure.iter().copied().fold(0.0, f64::max);
    let expected = 1000.0 * (3.0 * 19.0 * SPACING + 4.0 * 9.0 * SPACING + 0.5 * 5.0 * SPACING);
    assert!((deepest - expected).abs() < 1e-6, "{deepest}: {expected}");
}

#[test]
fn an_open_box_is_bounded_by_layers_without_gaps() {
    let fluids = fluids(WATER);
    let taken = taken(&fluids);
    let mut expected = 0;
    for z in -LAYERS..24 {
        for y in -LAYERS..15 + LAYERS {
            for x in -LAYERS..40 + LAYERS {
                let is_behind = !(0..40).contains(&x) || !(0..15).contains(&y) || z < 0;
                let is_expected = is_behind && z < 20;
                expected += usize::from(is_expected);
                let found = taken.get(&[x, y, z]).copied().unwrap_or(0);
                assert_eq!(found, u32::from(is_expected), "at {x} {y} {z}");
            }
        }
    }
    assert_eq!(fluids.boundary.position.len(), expected);
    assert_full(&fluids, 0.1, |place| place.z < 0.1 && place.x < 0.3);
    // Each belongs to the wall behind which it is deepest.
    for (place, wall) in fluids.boundary.position.iter().zip(&fluids.boundary.wall) {
        let [x, y, z] = *place;
        let depths = [-x, x - 0.8, -y, y - 0.3, -z];
        let deepest = depths.iter().copied().fold(0.0, f64::max);
        assert!(depths[*wall as usize] > deepest - 1e-9, "{place:?} of wall {wall}");
    }
}

#[test]
fn in_a_plane_there_is_one_layer() {
    let text = WATER
        .replace("spacing = 0.02", "spacing = 0.02\nplane = \"xz\"")
        .replace("min = [0, 0, 0]", "min = [0, -0.1, 0]");
    let found = fluids(&text);
    assert_eq!((found.across, found.particles.len()), (Some(1), 20 * 10));
    let all = found.particles.position.iter().chain(&found.boundary.position);
    assert!(all.clone().all(|place| place[1] == 0.0));
    assert_eq!(found.boundary.position.len(), 2 * 4 * (20 + 4) + 40 * 4);
    assert_full(&found, 0.1, |place| place.z < 0.1 && place.x < 0.3);
    let mass = found.particles.len() as f64 * found.volume() * 1000.0;
    assert!((mass - 80.0).abs() < 1e-9, "{mass} kg per meter of depth");
}

#[test]
fn a_cup_is_bounded_by_rings() {
    let text = "[run]\nuntil = 1\n[world]\ngravity = [0, 0, -9.81]\n[fluid.water]\ndensity = 1000\nspacing = 0.01\n\
        fill = { cylinder = { from = [0, 0, 0], to = [0, 0, 0.2], radius = 0.1 } }\n\
        [wall.cup]\ncylinder = { from = [0, 0, 0], to = [0, 0, 0.3], radius = 0.1, caps = [\"from\"] }\n";
    let found = fluids(text);
    let volume = found.particles.len() as f64 * found.volume();
    assert!((volume / (PI * 0.01 * 0.2) - 1.0).abs() < 0.02, "{volume}");
    for place in &found.boundary.position {
        let (radius, height) = (place[0].hypot(place[1]), place[2]);
        assert!(height > -0.04 && height < 0.3 && radius < 0.14 + 1e-9, "{place:?}");
        assert!(radius > 0.1 || height < 0.0, "{place:?} is inside");
    }
    assert_full(&found, 0.1, |place| place.z < 0.15);
    // A fluid around the same wall has wall particles inside.
    let around = text
        .replace(
            "cylinder = { from = [0, 0, 0], to = [0, 0, 0.2], radius = 0.1 }",
            "box = { min = [0.1, -0.2, 0], max = [0.3, 0.2, 0.1] }",
        )
        .replace("caps = [\"from\"]", "caps = [\"from\", \"to\"]");
    let pillar = fluids(&around);
    let is_inside = |place: &[f64; 3]| place[0].hypot(place[1]) < 0.1 && place[2] > 0.0 && place[2] < 0.3;
    assert!(pillar.boundary.position.iter().all(is_inside));
    assert!(pillar.boundary.position.len() > 5000);
}

#[test]
fn round_walls_cut_by_a_plane_are_rings() {
    let text = "[run]\nuntil = 1\n[fluid.water]\ndensity = 1000\nspacing = 0.01\nplane = \"xz\"\nfastest = 1\n\
        fill = { cylinder = { from = [0, -0.1, 0], to = [0, 0.1, 0], radius = 0.1 } }\n[wall.drum]\n";
    for (wall, within) in [
        ("cylinder = { from = [0, -0.1, 0], to = [0, 0.1, 0], radius = 0.1 }", 0.1),
        ("sphere = { center = [0, 0, 0], radius = 0.1 }", 0.1),
        (
            "cylinder = { from = [0, -0.1, 0], to = [0, 0.1, 0], radius = 0.1, segments = 90 }",
            0.25,
        ),
    ] {
        let found = fluids(&format!("{text}{wall}"));
        assert!(found.boundary.position.iter().all(|place| place[1] == 0.0), "{wall}");
        for place in &found.boundary.position {
            let radius = place[0].hypot(place[2]);
            assert!((0.1..0.14).contains(&radius), "{wall}: {place:?}");
        }
        assert_full(&found, within, |_| true);
    }
}

#[test]
fn a_ball_is_bounded_by_shells() {
    let text = "[run]\nuntil = 1\n[fluid.water]\ndensity = 1000\nspacing = 0.01\nfastest = 1\n\
        fill = { sphere = { center = [0, 0, 0], radius = 0.08 } }\n[wall.ball]\nsphere = { center = [0, 0, 0], radius = 0.08 }\n";
    let found = scene(text).world.fluids.unwrap();
    for place in &found.boundary.position {
        let radius = DVec3::from(*place).length();
        assert!((0.08..0.12).contains(&radius), "{place:?}");
    }
    assert_full(&found, 0.1, |_| true);
}

/// A block as an OBJ file: its eight corners, and twelve triangles, some of which face inward.
fn write_block(path: &Path, [from, to]: [[f64; 3]; 2]) {
    let mut text = String::new();
    for k in 0..8 {
        let corner = [0, 1, 2].map(|axis| if (k >> axis) & 1 == 0 { from[axis] } else { to[axis] });
        text += &format!("v {} {} {}\n", corner[0], corner[1], corner[2]);
    }
    for [a, b, c, d] in [[1, 2, 4, 3], [5, 6, 8, 7], [1, 2, 6, 5], [3, 4, 8, 7], [1, 3, 7, 5], [2, 4, 8, 6]] {
        text += &format!("f {a} {b} {c}\nf {c} {d} {a}\n");
    }
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_block_in_the_way_is_filled_and_leaves_the_fluid_alone() {
    let folder = tempfile::tempdir().unwrap();
    write_block(&folder.path().join("block.obj"), [[0.5, 0.1, 0.0], [0.6, 0.2, 0.12]]);
    let text = format!("{WATER}[wall.block]\nmesh = \"block.obj\"\n");
    let with_block = scene_in(folder.path(), &text).world;
    let fluids = with_block.fluids.unwrap();
    let block = with_block
        .walls
        .iter()
        .position(|wall| matches!(wall.shape, WallShape::Mesh(_)))
        .unwrap() as u32;
    let of_block: Vec<[i64; 3]> = fluids
        .boundary
        .position
        .iter()
        .zip(&fluids.boundary.wall)
        .filter(|(_, wall)| **wall == block)
        .map(|(place, _)| site(place, SPACING))
        .collect();
    for [x, y, z] in &of_block {
        assert!((25..30).contains(x) && (5..10).contains(y) && (0..6).contains(z), "{x} {y} {z}");
    }
    assert_eq!(of_block.len(), 5 * 5 * 6, "all of it is near its surface");
    assert!(taken(&fluids).values().all(|count| *count == 1));
    // A tank is the same block with the fluid inside.
    write_block(&folder.path().join("block.obj"), [[0.0, 0.0, 0.0], [0.4, 0.3, 0.3]]);
    let tank = WATER.replace(
        "box = { min = [0, 0, 0], max = [0.8, 0.3, 0.4], open = [\"top\"] }",
        "mesh = \"block.obj\"",
    );
    let fluids = scene_in(folder.path(), &tank).world.fluids.unwrap();
    for place in fluids.boundary.position.iter() {
        let [x, y, z] = site(place, SPACING);
        assert!(!((0..20).contains(&x) && (0..15).contains(&y) && (0..15).contains(&z)));
    }
    assert!(taken(&fluids).values().all(|count| *count == 1));
    assert_full(&fluids, 0.1, |place| place.z < 0.1);
}

#[test]
fn what_moves_has_particles_of_its_own() {
    let piston = "[wall.piston]\nplane = { point = [0.6, 0, 0], normal = [-1, 0, 0] }\nmotion = { translate = [-3, 0, 0] }\n";
    let found = fluids(&format!("{WATER}{piston}"));
    let still = fluids(WATER);
    let [of_piston, others]: [Vec<[i64; 3]>; 2] = [true, false].map(|moves| {
        let all = found.boundary.position.iter().zip(&found.boundary.wall);
        all.filter(|(_, wall)| (**wall == 0) == moves)
            .map(|(place, _)| site(place, SPACING))
            .collect()
    });
    // The tank is complete, also behind the piston, which reaches from wall to wall.
    assert_eq!(others.len(), still.boundary.position.len());
    assert_eq!(of_piston.len(), 4 * 15 * 20);
    assert!(
        of_piston
            .iter()
            .all(|[x, y, z]| (30..34).contains(x) && (0..15).contains(y) && (0..20).contains(z))
    );
    assert_eq!(found.largest_speed, 3.0);
}

#[test]
fn a_fluid_that_is_cut_ends_before_a_sloping_floor() {
    // A beach from x = 0.2 m on, with a slope of one in two.
    let beach = "[wall.beach]\nplane = { point = [0.2, 0, 0], normal = [-0.5, 0, 1] }\n[wall.tank]";
    let text = WATER.replace("[wall.tank]", beach);
    let found = load_text(&text, Path::new("scene.toml"), &[])
        .expect_err("water in the beach")
        .plain();
    assert!(found.contains("is inside wall.beach, or behind it"), "{found}");
    let fluids = fluids(&text.replace("spacing = 0.02", "spacing = 0.02\ncut_at_planes = true"));
    let height = |place: &[f64; 3]| (place[2] - 0.5 * (place[0] - 0.2)) / 1.25_f64.sqrt();
    let nearest = fluids.particles.position.iter().map(height).fold(f64::INFINITY, f64::min);
    assert!(nearest > 0.2 * SPACING && nearest < 0.8 * SPACING, "{nearest}");
    // Box minus wedge, 0.4 x 0.2 - 0.2 x 0.1 / 2 m², to a quarter of a spacing along the beach.
    let volume = fluids.particles.len() as f64 * fluids.volume() / 0.3;
    let margin = 0.25 * SPACING * 0.2 * 1.25_f64.sqrt();
    assert!(volume < 0.07 && volume > 0.07 - 2.0 * margin, "{volume}");
    assert_eq!(fluids.particles.id, (0..fluids.particles.len() as u32).collect::<Vec<u32>>());
    // All columns reach the surface: the pressure follows from the fluid above.
    for (place, pressure) in fluids.particles.position.iter().zip(&fluids.particles.pressure) {
        let expected = 9810.0 * (0.2 - place[2]);
        assert!((pressure - expected).abs() < 1e-6, "{place:?} {pressure}");
    }
}

#[test]
fn periodic_sides_need_no_walls() {
    let domain =
        "gravity = [0, 0, -9.81]\ndomain = { min = [0, 0, -1], max = [0.4, 0.3, 1], sides = [\"periodic\", \"periodic\", \"open\"] }";
    let text = WATER.replace("gravity = [0, 0, -9.81]", domain).replace(
        "box = { min = [0, 0, 0], max = [0.8, 0.3, 0.4], open = [\"top\"] }",
        "plane = { point = [0, 0, 0], normal = [0, 0, 1] }",
    );
    let found = fluids(&text);
    let taken = taken(&found);
    assert_eq!((taken.len(), found.boundary.position.len()), (20 * 15 * 4, 20 * 15 * 4));
    assert!(
        taken
            .keys()
            .all(|[x, y, z]| (0..20).contains(x) && (0..15).contains(y) && (-4..0).contains(z))
    );
    let uneven = scene(&text.replace("max = [0.4, 0.3, 1]", "max = [0.41, 0.3, 1]"));
    assert!(
        uneven.notices.iter().any(|notice| notice.contains("20.5000 spacings long in x")),
        "{:?}",
        uneven.notices
    );
}

#[test]
fn what_does_not_come_out_even_is_reported() {
    let uneven = scene(&WATER.replace("max = [0.4, 0.3, 0.2]", "max = [0.39, 0.3, 0.205]"));
    assert_eq!(uneven.world.fluids.unwrap().particles.len(), 19 * 15 * 10);
    let reported = "its box is 19.5000 spacings long in x, and holds 19: particles stand for 0.022800 m³ of 0.023985 m³";
    assert!(
        uneven.notices.iter().any(|notice| notice.contains(reported)),
        "{:?}",
        uneven.notices
    );
    let plane = "plane = { point = [0, 0, 0], normal = [0, 0, 1] }";
    let open = scene(&WATER.replace("box = { min = [0, 0, 0], max = [0.8, 0.3, 0.4], open = [\"top\"] }", plane));
    assert!(
        open.notices.iter().any(|notice| notice.contains("wall.tank: it holds fluids from")),
        "{:?}",
        open.notices
    );
    let dry = "[run]\nuntil = 1\n[material.glass]\ndensity = 2500\nyoungs_modulus = 1e9\npoisson_ratio = 0.2\n[interaction.glass-glass]\nrestitution = 0.5\n\
        friction = 0.3\n[grains.one]\nmaterial = \"glass\"\nat = [[0, 0, 1]]\nradius = 0.1\n[wall.floor]\nmaterial = \"glass\"\nslip = \"free\"\n\
        plane = { point = [0, 0, 0], normal = [0, 0, 1] }\n";
    let notices = load_text(dry, Path::new("scene.toml"), &[]).unwrap().notices;
    assert_eq!(notices, ["wall.floor.slip has no effect: the scene has no fluid"]);
}
