//! Vessels of meshes keep their fluid in: wall particles fill the support behind them, and vessels that are too thin are refused.

mod muller;
mod sides;

use super::scene_in;
use glam::{DQuat, DVec2, DVec3};
use seixo_engine::Simulation;
use seixo_engine::world::{Fluids, WallParticles};
use seixo_laws::fluid::Smoothing;
use seixo_scene::{Scene, load_text};
use std::collections::BTreeSet;
use std::f64::consts::TAU;
use std::path::Path;

const SPACING: f64 = 0.01;
/// \[spacings\].
const SUPPORT: f64 = 3.0;

/// A number between 0 and 1 for each input.
fn share(of: usize) -> f64 {
    (of as f64 * 0.618_033_988_749_895).fract()
}

/// A prism with this number of sides, convex or not, rotated, with an open top.
struct Vessel {
    /// Corners of the floor, around the origin \[spacings\].
    corners: Vec<DVec2>,
    turn: DQuat,
}

impl Vessel {
    fn new(number: usize) -> Vessel {
        let sides = 3 + number % 4;
        let corner = |k: usize| {
            let way = (k as f64 + 0.4 * (share(7 * number + k) - 0.5)) * TAU / sides as f64;
            let reach = if number.is_multiple_of(2) {
                7.0
            } else {
                4.0 + 4.0 * share(11 * number + 3 * k)
            };
            reach * DVec2::from_angle(way)
        };
        let axis = DVec3::new(share(number) - 0.5, share(number + 5) - 0.5, share(number + 9) + 0.1).normalize();
        Vessel {
            corners: (0..sides).map(corner).collect(),
            turn: DQuat::from_axis_angle(axis, 3.0 * share(number + 2)),
        }
    }

    fn sides(&self) -> impl Iterator<Item = (DVec2, DVec2)> {
        let next = self.corners.iter().cycle().skip(1);
        self.corners.iter().copied().zip(next.copied())
    }

    /// Distance of a position from the walls, in the frame of the vessel; negative inside the walls and outside of the vessel \[spacings\].
    fn depth(&self, at: DVec3) -> f64 {
        let place = at.truncate();
        let mut is_inside = false;
        let mut nearest = f64::INFINITY;
        for (a, b) in self.sides() {
            if (a.y > place.y) != (b.y > place.y) && place.x < (b.x - a.x) * (place.y - a.y) / (b.y - a.y) + a.x {
                is_inside = !is_inside;
            }
            let share = ((place - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
            nearest = nearest.min(place.distance(a.lerp(b, share)));
        }
        if is_inside { nearest.min(at.z) } else { -nearest }
    }

    /// As OBJ: floor and sides of this height in spacings, with a lid or without.
    fn mesh(&self, height: f64, has_lid: bool) -> String {
        let mut text = String::new();
        let mut vertex = |at: DVec3| {
            let DVec3 { x, y, z } = self.turn * at * SPACING;
            text += &format!("v {x:?} {y:?} {z:?}\n");
        };
        for level in [0.0, height] {
            self.corners.iter().for_each(|corner| vertex(corner.extend(level)));
            vertex(DVec3::Z * level);
        }
        let count = self.corners.len();
        let upper = count + 1;
        for k in 0..count {
            let (a, b) = (k + 1, (k + 1) % count + 1);
            text += &format!(
                "f {a} {} {b}\nf {a} {b} {}\nf {b} {} {}\n",
                count + 1,
                upper + a,
                upper + b,
                upper + a
            );
            if has_lid {
                text += &format!("f {} {} {}\n", upper + a, upper + b, 2 * upper);
            }
        }
        text
    }
}

/// A scene of water in walls with these keys.
fn text(fill: &str, keys: &str, walls: &str) -> String {
    format!(
        "[run]\nuntil = 1\n[world]\ngravity = [0, 0, -9.81]\n[fluid.water]\ndensity = 1000\nspacing = {SPACING}\nsupport = {SUPPORT}\nfill = {{ {fill} }}\n\
         artificial_viscosity = 0.1\n{keys}\n{walls}"
    )
}

/// Σ V W of the wall particles around a position.
fn of_walls(fluids: &Fluids, at: DVec3) -> f64 {
    let smoother = Smoothing::Wendland.smoother(fluids.support, fluids.space());
    let whole = fluids.volume();
    let boundary = &fluids.boundary;
    let part = |(k, place): (usize, &[f64; 3])| {
        let distance = at.distance(DVec3::from(*place));
        let volume = boundary.volume.get(k).copied().unwrap_or(whole);
        if distance < fluids.support {
            volume * smoother.value(distance, Smoothing::Wendland)
        } else {
            0.0
        }
    };
    boundary.position.iter().enumerate().map(part).sum()
}

#[test]
fn walls_fill_what_fluid_sees_behind_them_at_any_corner() {
    // Positions for sums of W over the inside.
    let fine = |k: usize| (k as f64 + 0.5) / 3.0 - SUPPORT;
    let around: Vec<DVec3> = (0..18usize.pow(3))
        .map(|k| DVec3::new(fine(k % 18), fine(k / 18 % 18), fine(k / 324)))
        .collect();
    for number in 0..8 {
        let vessel = Vessel::new(number);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("vessel.obj"), vessel.mesh(10.0, false)).unwrap();
        std::fs::write(folder.path().join("water.obj"), vessel.mesh(5.0, true)).unwrap();
        let text = text("mesh = { file = \"water.obj\" }", "", "[wall.vessel]\nmesh = \"vessel.obj\"\n");
        let fluids = scene_in(folder.path(), &text).world.fluids.unwrap();
        let smoother = Smoothing::Wendland.smoother(SUPPORT, fluids.space());
        let mut asked = 0;
        for k in 0..200 {
            // Evenly distributed over a block (the sequence R3, [Roberts 2018]).
            let [x, y, z] = [0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902].map(|step| (f64::from(k) * step).fract());
            let at = DVec3::new(16.0 * x - 8.0, 16.0 * y - 8.0, 0.3 + 5.0 * z);
            let depth = vessel.depth(at);
            if !(0.3..2.0).contains(&depth) {
                continue;
            }
            asked += 1;
            let inside = |offset: &DVec3| (0.5 + 3.0 * vessel.depth(at + *offset)).clamp(0.0, 1.0);
            let weight = |offset: &DVec3| {
                if offset.length() < SUPPORT {
                    smoother.value(offset.length(), Smoothing::Wendland) / 27.0
                } else {
                    0.0
                }
            };
            let of_fluid: f64 = around.iter().map(|offset| inside(offset) * weight(offset)).sum();
            let sum = of_fluid + of_walls(&fluids, vessel.turn * at * SPACING);
            assert!(
                (0.93..1.04).contains(&sum),
                "vessel {number}: {sum} at {at}, {depth} spacings from walls"
            );
        }
        assert!(asked > 20, "vessel {number}: {asked}");
    }
}

/// A jug of twelve flat sides.
const JUG: &str = "[wall.jug]\ncylinder = { from = [0, 0, 0], to = [0, 0, 0.08], radius = 0.05, segments = 12, caps = [\"from\"] }\n";

/// Water in the jug.
fn jug_of_water(keys: &str) -> String {
    text("cylinder = { from = [0, 0, 0], to = [0, 0, 0.05], radius = 0.045 }", keys, JUG)
}

/// Largest distance of a particle outside of the jug of a scene after a time \[m\].
fn farthest_outside(text: &str, time: f64) -> f64 {
    let scene = load_text(text, Path::new("scene.toml"), &[]).unwrap_or_else(|found| panic!("{found}"));
    let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
    let steps = (time / simulation.time_step().value).round() as u64;
    simulation.advance(steps).unwrap();
    let depth = |[x, y, z]: &[f64; 3]| {
        let across = (0..12).map(|k| DVec2::new(*x, *y).dot(DVec2::from_angle((f64::from(k) + 0.5) * TAU / 12.0)));
        let apothem = 0.05 * (TAU / 24.0).cos();
        (across.fold(f64::NEG_INFINITY, f64::max) - apothem).max(-z)
    };
    simulation
        .fluid()
        .unwrap()
        .position
        .iter()
        .map(depth)
        .fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn water_stays_in_a_jug_of_flat_sides() {
    let weakly = farthest_outside(&jug_of_water(""), 0.2);
    assert!(weakly < 0.0, "{weakly} m outside");
    // Particles of incompressible fluids may be closer than half a spacing to a wall, as long as their density is not too high.
    let incompressible = farthest_outside(&jug_of_water("solver = \"dfsph\""), 0.1);
    assert!(incompressible < 0.5 * SPACING, "{incompressible} m outside");
}

#[test]
fn incompressible_water_rests_in_a_box_that_is_turned() {
    // Its sides are at 30° to the lattice of the fluid.
    let corner = |k: u32| 50.0_f64.sqrt() * DVec2::from_angle((f64::from(k) + 0.5) * TAU / 4.0);
    let tank = Vessel {
        corners: (0..4).map(corner).collect(),
        turn: DQuat::from_rotation_z(TAU / 12.0),
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tank.obj"), tank.mesh(8.0, false)).unwrap();
    std::fs::write(folder.path().join("water.obj"), tank.mesh(5.0, true)).unwrap();
    let text = text(
        "mesh = { file = \"water.obj\" }",
        "solver = \"dfsph\"",
        "[wall.tank]\nmesh = \"tank.obj\"\n",
    );
    let scene = scene_in(folder.path(), &text);
    let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
    let steps = (0.2 / simulation.time_step().value).round() as u64;
    simulation.advance(steps).unwrap();
    let water = simulation.fluid().unwrap().position;
    let depth = |place: &[f64; 3]| tank.depth(tank.turn.inverse() * DVec3::from(*place) / SPACING);
    let least = water.iter().map(depth).fold(f64::INFINITY, f64::min);
    // As in a jug of flat sides. Behind half a spacing is the first layer of wall particles.
    assert!(water.len() > 450 && least > -0.5, "{least} spacings, {} particles", water.len());
}

#[test]
fn planes_that_meet_below_the_fluid_close_their_corner() {
    // A trough with an angle of 60°: water that is cut at planes starts a spacing above their common edge.
    let side = |name: &str, x: f64| {
        format!(
            "[wall.{name}]\nplane = {{ point = [0, 0, 0], normal = [{x}, 0, {}] }}\n",
            1.0 / 3.0_f64.sqrt()
        )
    };
    let fill = "box = { min = [-0.06, -0.06, 0], max = [0.06, 0.06, 0.1] }";
    let trough = side("left", 1.0) + &side("right", -1.0);
    let scene = scene_in(Path::new(""), &text(fill, "cut_at_planes = true", &trough));
    let fluids = scene.world.fluids.unwrap();
    let lowest = fluids.particles.position.iter().fold(f64::INFINITY, |low, place| low.min(place[2]));
    assert!(lowest > SPACING, "{lowest}");
    // Around the edge, 300 of 360 degrees are behind walls.
    let sum = of_walls(&fluids, DVec3::ZERO);
    assert!((sum - 5.0 / 6.0).abs() < 0.15, "{sum}");
}

/// A block from corner to corner as OBJ, optionally without one of its faces; the first vertex has the number after `before`.
fn block([from, to]: [[f64; 3]; 2], before: usize, open: Option<usize>) -> String {
    let mut text = String::new();
    for k in 0..8 {
        let [x, y, z] = [0, 1, 2].map(|axis| if (k >> axis) & 1 == 0 { from[axis] } else { to[axis] });
        text += &format!("v {x} {y} {z}\n");
    }
    let faces = [[1, 2, 4, 3], [5, 6, 8, 7], [1, 2, 6, 5], [3, 4, 8, 7], [1, 3, 7, 5], [2, 4, 8, 6]];
    for (_, face) in faces.iter().enumerate().filter(|(k, _)| Some(*k) != open) {
        let [a, b, c, d] = face.map(|corner| corner + before);
        text += &format!("f {a} {b} {c}\nf {c} {d} {a}\n");
    }
    text
}

const POOL: &str = "box = { min = [-0.05, -0.05, 0], max = [0.05, 0.05, 0.05] }";

/// The lattice sites with a wall particle, each of which has one.
fn sites(boundary: &WallParticles) -> BTreeSet<[i64; 3]> {
    let site = |place: &[f64; 3]| place.map(|x| (x / SPACING).floor() as i64);
    let sites: BTreeSet<[i64; 3]> = boundary.position.iter().map(site).collect();
    assert_eq!(sites.len(), boundary.position.len());
    sites
}

/// The sites around a tank of ten by ten by eight cells that are within the support, three spacings, and not above `top`.
fn around_tank(top: i64) -> BTreeSet<[i64; 3]> {
    let beside = |cell: i64, [from, to]: [i64; 2]| (from - cell).max(cell - to + 1).max(0);
    let all = (0..20i64.pow(3)).map(|k| [k % 20 - 10, k / 20 % 20 - 10, k / 400 - 6]);
    let is_near = |cell: &[i64; 3]| {
        let off = [beside(cell[0], [-5, 5]), beside(cell[1], [-5, 5]), beside(cell[2], [0, 8])];
        // Centers are half a spacing before the far end.
        let squares = off.map(|cells| if cells > 0 { (cells as f64 - 0.5).powi(2) } else { 0.0 });
        let square: f64 = squares.iter().sum();
        square > 0.0 && square < SUPPORT * SUPPORT && cell[2] < top
    };
    all.filter(is_near).collect()
}

#[test]
fn sheets_whose_edges_meet_hold_as_one_mesh() {
    let corners = [[-0.05, -0.05, 0.0], [0.05, 0.05, 0.08]];
    let folder = tempfile::tempdir().unwrap();
    let mut walls = String::new();
    for side in [0, 2, 3, 4, 5] {
        let sheet = block(corners, 0, None);
        let vertices = sheet.lines().filter(|line| line.starts_with('v'));
        let faces = sheet.lines().filter(|line| line.starts_with('f')).skip(2 * side).take(2);
        let lines: Vec<&str> = vertices.chain(faces).collect();
        std::fs::write(folder.path().join(format!("side{side}.obj")), lines.join("\n")).unwrap();
        walls += &format!("[wall.side{side}]\nmesh = \"side{side}.obj\"\n");
    }
    std::fs::write(folder.path().join("tank.obj"), block(corners, 0, Some(1))).unwrap();
    let of = |walls: &str| scene_in(folder.path(), &text(POOL, "", walls)).world.fluids.unwrap().boundary;
    let (sheets, tank) = (of(&walls), of("[wall.tank]\nmesh = \"tank.obj\"\n"));
    assert_eq!(sites(&tank), around_tank(8));
    assert_eq!(sites(&sheets), sites(&tank));
    // Each side has its own particles.
    assert!((0..5).all(|wall| sheets.wall.contains(&wall)));
}

#[test]
fn between_two_closed_parts_a_wall_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let tank = block([[-0.05, -0.05, 0.0], [0.05, 0.05, 0.08]], 0, None);
    let around = block([[-0.08, -0.08, -0.03], [0.08, 0.08, 0.11]], 8, None);
    std::fs::write(folder.path().join("tank.obj"), tank + &around).unwrap();
    let text = text(POOL, "", "[wall.tank]\nmesh = \"tank.obj\"\n");
    let found = sites(&scene_in(folder.path(), &text).world.fluids.unwrap().boundary);
    assert!(around_tank(11).is_subset(&found), "{found:?}");
}

/// A tray with a floor and sides this thick, one closed part, as OBJ.
fn tray(thickness: f64) -> String {
    let mut text = String::new();
    let (inner, outer) = (0.05, 0.05 + thickness);
    for (half, z) in [(outer, -thickness), (outer, 0.08), (inner, 0.0), (inner, 0.08)] {
        for [x, y] in [[-half, -half], [half, -half], [half, half], [-half, half]] {
            text += &format!("v {x} {y} {z}\n");
        }
    }
    for k in 1..5 {
        let next = k % 4 + 1;
        // Outside, rim and inside.
        for [low, high] in [[0, 4], [4, 12], [12, 8]] {
            let [a, b, c, d] = [low + k, low + next, high + next, high + k];
            text += &format!("f {a} {b} {c}\nf {c} {d} {a}\n");
        }
    }
    text + "f 1 3 2\nf 1 4 3\nf 9 10 11\nf 9 11 12\n"
}

#[test]
fn a_wall_that_is_too_thin_for_its_fluid_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let load = |mesh: String, support: f64| {
        std::fs::write(folder.path().join("tray.obj"), mesh).unwrap();
        let text = text(POOL, "", "[wall.tray]\nmesh = \"tray.obj\"\n").replace("support = 3", &format!("support = {support}"));
        load_text(&text, &folder.path().join("scene.toml"), &[])
    };
    let found = load(tray(0.004), 3.0).expect_err("a thin tray").plain();
    for phrase in [
        "wall.tray: it is 4.000e-3 m thick",
        "2.000e-2 m, 2 spacings",
        "a spacing of at most 2.000e-3 m",
        "leave the dry side out",
    ] {
        assert!(found.contains(phrase), "no `{phrase}` in\n{found}");
    }
    // Two layers are sufficient for a support of three spacings, but not of four.
    let held = load(tray(0.02), 3.0);
    assert!(held.is_ok(), "{}", held.expect_err("a tray").plain());
    let found = load(tray(0.02), 4.0).expect_err("a thin tray").plain();
    assert!(found.contains("3.000e-2 m, 3 spacings"), "{found}");
    // There is a note about a plate without fluid on either side.
    let plate = block([[0.2, -0.05, 0.0], [0.205, 0.05, 0.08]], 0, None);
    std::fs::write(folder.path().join("tray.obj"), plate).unwrap();
    let walls = "[wall.floor]\nbox = { min = [-0.05, -0.05, 0], max = [0.4, 0.05, 0.1] }\n[wall.tray]\nmesh = \"tray.obj\"\n";
    let notices = scene_in(folder.path(), &text(POOL, "", walls)).notices;
    assert!(
        notices.iter().any(|notice| notice.contains("wall.tray: it is 5.000e-3 m thick")),
        "{notices:?}"
    );
}

/// Length of a cell with periodic sides \[spacings\].
const CELL: i64 = 40;

/// A prism along y over a polygon, as OBJ: closed, or the sheet above the points of an open line.
fn prism(points: &[[f64; 2]], is_closed: bool) -> String {
    let mut text = String::new();
    for y in [-0.2, 0.2] {
        for [x, z] in points {
            text += &format!("v {x:?} {y:?} {z:?}\n");
        }
    }
    let count = points.len();
    for k in 0..if is_closed { count } else { count - 1 } {
        let next = (k + 1) % count;
        text += &format!("f {} {} {} {}\n", k + 1, next + 1, count + next + 1, count + k + 1);
    }
    if is_closed {
        let front: Vec<String> = (1..=count).rev().map(|k| k.to_string()).collect();
        let back: Vec<String> = (count + 1..=2 * count).map(|k| k.to_string()).collect();
        text += &format!("f {}\nf {}\n", front.join(" "), back.join(" "));
    }
    text
}

/// Water over a floor and a wall in a plane between periodic sides, and the mesh that the wall may be of.
fn over(wall: &str, mesh: &str, solver: &str) -> Result<Scene, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bed.obj"), mesh).unwrap();
    let scene = format!(
        "[run]\nuntil = 0.2\n[world]\ngravity = [0, 0, -9.81]\n\
         domain = {{ min = [0, -1, -1], max = [{0}, 1, 1], sides = [\"periodic\", \"open\", \"open\"] }}\n\
         [fluid.water]\ndensity = 1000\nspacing = {SPACING}\nsupport = {SUPPORT}\nplane = \"xz\"\nsolver = \"{solver}\"\nfastest = 1\n\
         artificial_viscosity = 0.1\nfill = {{ box = {{ min = [0, -0.1, 0.1], max = [{0}, 0.1, 0.2] }} }}\n\
         [wall.floor]\nplane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n[wall.bed]\n{wall}\n",
        CELL as f64 * SPACING
    );
    load_text(&scene, &folder.path().join("scene.toml"), &[]).map_err(|found| found.plain())
}

#[test]
fn what_reaches_over_a_periodic_side_comes_in_on_the_opposite_one() {
    let length = CELL as f64 * SPACING;
    let along = |points: &[[f64; 2]], shift: i64| {
        points
            .iter()
            .map(|[x, z]| [(x + shift as f64) * SPACING, z * SPACING])
            .collect::<Vec<_>>()
    };
    // A step, a bed whose lowest point is at the periodic side, and a post.
    let step = |shift: i64| prism(&along(&[[0.0, -2.0], [12.0, -2.0], [12.0, 8.0], [0.0, 8.0]], shift), true);
    let bed = |shift: i64| prism(&along(&[[0.0, 2.13], [20.0, 8.41], [40.0, 2.13]], shift), false);
    let post = |shift: i64| {
        let x = (6.0 + shift as f64) * SPACING;
        format!("cylinder = {{ from = [{x}, -0.5, 0.06], to = [{x}, 0.5, 0.06], radius = 0.025 }}")
    };
    let mesh = "mesh = \"bed.obj\"".to_owned();
    type Kind<'a> = (&'a str, &'a dyn Fn(i64) -> (String, String));
    let kinds: [Kind; 3] = [
        ("step", &|shift| (mesh.clone(), step(shift))),
        ("bed", &|shift| (mesh.clone(), bed(shift))),
        ("post", &|shift| (post(shift), String::new())),
    ];
    for (name, kind) in kinds {
        // Positions and volumes of the wall particles, relative to an unshifted wall.
        let stand = |shift: i64| -> Vec<[f64; 3]> {
            let (wall, mesh) = kind(shift);
            let scene = over(&wall, &mesh, "wcsph").unwrap_or_else(|found| panic!("{name} at {shift}: {found}"));
            let boundary = scene.world.fluids.unwrap().boundary;
            let of_particle = |(k, [x, _, z]): (usize, &[f64; 3])| {
                let home = (x - shift as f64 * SPACING + 1e-6).rem_euclid(length);
                let volume = boundary.volume.get(k).map_or(1.0, |volume| volume / SPACING.powi(2));
                [home / SPACING, z / SPACING, volume]
            };
            boundary.position.iter().enumerate().map(of_particle).collect()
        };
        let right = stand(10);
        assert!(right.len() > 100, "{name}: {}", right.len());
        // Within the cell, from side to side, and across a side. The filled part of cells at a surface is measured to some hundredths, within which
        // rounding may decide; the total is exact to a thousandth.
        for shift in [0, 28, 34, -6, 40] {
            let found = stand(shift);
            let volume = |of: &[[f64; 3]]| of.iter().map(|[_, _, volume]| volume).sum::<f64>();
            assert!((volume(&found) / volume(&right) - 1.0).abs() < 1e-3, "{name} at {shift}");
            let is_right = |one: &&[f64; 3]| right.iter().any(|other| (0..3).all(|k| (one[k] - other[k]).abs() < 0.05));
            let odd: Vec<_> = found.iter().filter(|one| !is_right(one)).collect();
            assert!(
                found.len() == right.len() && odd.is_empty(),
                "{name} at {shift}: {} of {}, {odd:?}",
                found.len(),
                right.len()
            );
        }
    }
}

#[test]
fn water_rests_on_a_bed_and_a_step_that_reach_over_a_periodic_side() {
    let length = CELL as f64 * SPACING;
    let step = prism(&[[0.34, -0.02], [0.46, -0.02], [0.46, 0.08], [0.34, 0.08]], true);
    let bed = prism(&[[-0.06, 0.02], [0.14, 0.08], [0.34, 0.02]], false);
    let is_in_step = |x: f64, z: f64| !(0.06..0.34).contains(&x) && z < 0.08;
    let is_under_bed = |x: f64, z: f64| z < 0.02 + 0.06 * (1.0 - ((x - 0.14 + 0.5 * length).rem_euclid(length) - 0.5 * length).abs() / 0.2);
    type Kind<'a> = (&'a str, &'a str, &'a dyn Fn(f64, f64) -> bool);
    let kinds: [Kind; 2] = [("step", &step, &is_in_step), ("bed", &bed, &is_under_bed)];
    for (name, mesh, is_inside) in kinds {
        for solver in ["wcsph", "dfsph"] {
            let scene = over("mesh = \"bed.obj\"", mesh, solver).unwrap_or_else(|found| panic!("{name}: {found}"));
            let mut simulation = Simulation::new(scene.world, scene.settings).unwrap();
            let steps = (0.2 / simulation.time_step().value).round() as u64;
            simulation.advance(steps).unwrap();
            simulation.observe().unwrap();
            let water = simulation.fluid().unwrap();
            let inside = water.position.iter().filter(|[x, _, z]| is_inside(*x, z + 0.5 * SPACING)).count();
            assert_eq!((water.position.len(), inside), (400, 0), "{name}, {solver}");
        }
    }
}

#[test]
fn a_mesh_that_turns_at_a_periodic_side_is_refused_by_name() {
    let step = prism(&[[0.34, -0.02], [0.46, -0.02], [0.46, 0.08], [0.34, 0.08]], true);
    let wall = "mesh = \"bed.obj\"\nmotion = { rotate = 1, axis = [0, 1, 0], through = [0.4, 0, 0] }";
    let reported = over(wall, &step, "wcsph").map(|_| ()).unwrap_err();
    assert!(reported.contains("wall.bed: it turns at a periodic side"), "{reported}");
}

/// A lid out of reach, and a sphere far away: a note says that fluids pass them. In a domain that reaches the lid, it is a wall.
#[test]
fn walls_that_bound_no_fluid_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let unfelt = |world: &str, walls: &str| {
        let scene = format!(
            "[run]\nuntil = 1e-3\n[world]\ngravity = [0, 0, -9.81]\n{world}[fluid.water]\ndensity = 1000\nspacing = 0.02\n\
             fill = {{ box = {{ min = [0, 0, 0], max = [0.16, 0.12, 0.16] }} }}\n\
             [wall.tank]\nbox = {{ min = [0, 0, 0], max = [0.16, 0.12, 0.24], open = [\"top\"] }}\n{walls}"
        );
        let notices = scene_in(folder.path(), &scene).notices;
        let unfelt = notices.into_iter().filter(|notice| notice.contains("it has no wall particles"));
        unfelt.collect::<Vec<String>>()
    };
    let lid = "[wall.lid]\nplane = { point = [0, 0, 1], normal = [0, 0, -1] }\n";
    let ball = "[wall.ball]\nsphere = { center = [9, 9, 9], radius = 0.1 }\n";
    assert!(unfelt("", "").is_empty());
    for (name, wall) in [("lid", lid), ("ball", ball)] {
        let reported = unfelt("", wall);
        assert!(
            reported.len() == 1 && reported[0].starts_with(&format!("wall.{name}: ")),
            "{reported:?}"
        );
    }
    let domain = "domain = { min = [0, 0, 0], max = [0.16, 0.12, 1.2] }\n";
    assert!(unfelt(domain, lid).is_empty());
}
