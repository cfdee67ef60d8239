//! Bodies and suspended grains in fluids: their boundary particles, and the fluid that they displace.

mod afloat;
mod polyhedral;
mod symmetric;

use seixo_engine::world::{Fluids, World};
use seixo_scene::{Scene, StageAction, load_text};

const SPACING: f64 = 0.02;

/// A tank of water with a cube of twelve centimeters in it, and further keys.
fn text(of_grains: &str, of_fluid: &str) -> String {
    format!(
        r#"[run]
until = 1
[world]
gravity = [0, 0, -9.81]
[material.wood]
density = 500
youngs_modulus = 1e6
poisson_ratio = 0.3
[interaction.wood-wood]
restitution = 0.5
friction = 0.3
[fluid.water]
density = 1000
fill = {{ box = {{ min = [0, 0, 0], max = [0.4, 0.4, 0.3] }} }}
spacing = 0.02
support = 3
{of_fluid}
[shape.cube]
mesh = "cube.obj"
spheres = {{ radius = 0.01, fill = "surface" }}
[grains.blocks]
material = "wood"
{of_grains}
[wall.tank]
material = "wood"
box = {{ min = [0, 0, 0], max = [0.4, 0.4, 0.6], open = ["top"] }}
"#
    )
}

const CUBE: &str = "shape = \"cube\"\nat = [[0.2, 0.2, 0.16]]\nradius = 0.1";

fn load(of_grains: &str, of_fluid: &str) -> Result<Scene, String> {
    load_staged(of_grains, of_fluid, "")
}

fn load_staged(of_grains: &str, of_fluid: &str, stages: &str) -> Result<Scene, String> {
    load_with(&boxes(&[[0.06; 3]]), of_grains, of_fluid, stages)
}

/// Boxes about the origin with these half edges, each a closed part of a mesh, as OBJ.
fn boxes(halves: &[[f64; 3]]) -> String {
    let faces = [
        [1, 3, 4],
        [1, 4, 2],
        [5, 6, 8],
        [5, 8, 7],
        [1, 2, 6],
        [1, 6, 5],
        [3, 7, 8],
        [3, 8, 4],
        [1, 5, 7],
        [1, 7, 3],
        [2, 4, 8],
        [2, 8, 6],
    ];
    let mut mesh = String::new();
    for half in halves {
        for k in 0..8 {
            let [x, y, z] = [0, 1, 2].map(|axis| if k >> axis & 1 == 0 { -half[axis] } else { half[axis] });
            mesh += &format!("v {x} {y} {z}\n");
        }
    }
    for part in 0..halves.len() {
        for [a, b, c] in faces.map(|face| face.map(|corner| corner + 8 * part)) {
            mesh += &format!("f {a} {b} {c}\n");
        }
    }
    mesh
}

fn load_with(mesh: &str, of_grains: &str, of_fluid: &str, stages: &str) -> Result<Scene, String> {
    load_beside(mesh, &(text(of_grains, of_fluid) + stages))
}

/// A plane flow in the plane y = 0, in the middle of the tank.
fn load_in_plane(of_grains: &str, more: &str) -> Result<Scene, String> {
    let text = text(of_grains, "plane = \"xz\"").replace("min = [0, 0, 0]", "min = [0, -0.4, 0]") + more;
    load_beside(&boxes(&[[0.06; 3]]), &text)
}

/// A scene with this mesh in its folder.
fn load_beside(mesh: &str, text: &str) -> Result<Scene, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cube.obj"), mesh).unwrap();
    load_text(text, &folder.path().join("scene.toml"), &[]).map_err(|found| found.to_string())
}

fn wet(world: &World) -> &Fluids {
    world.fluids.as_ref().unwrap()
}

/// Total volume of the boundary particles of a body \[m³\], in a plane flow area \[m²\].
fn volume(fluids: &Fluids, body_boundary: usize) -> f64 {
    fluids.body_boundaries[body_boundary].volume.iter().sum()
}

#[test]
fn a_cube_of_whole_spacings_is_full_of_particles_on_a_lattice() {
    // The smallest sphere around the cube and the spheres on its surface has another radius: the cube is scaled to the given one.
    let scene = load(&format!("{CUBE}\ndisplaces_fluid = true"), "").unwrap();
    let fluids = wet(&scene.world);
    assert_eq!(fluids.body_boundaries.len(), 1);
    let body = &scene.world.grains.bodies[0];
    // Fluids lose the volume of the body: its mass over its density, up to the layer of particles at its surface.
    let displaced = body.mass / 500.0;
    let edge = displaced.cbrt();
    let gone = 20.0 * 20.0 * 15.0 - fluids.particles.len() as f64;
    let layer = 6.0 * edge * edge * SPACING;
    assert!(
        (gone * SPACING.powi(3) - displaced).abs() < 0.6 * layer,
        "{gone} particles for {displaced} m³"
    );
    // No fluid particle is near it, and none of its particles is outside.
    let half = 0.5 * edge;
    for offset in &fluids.body_boundaries[0].offset {
        assert!(offset.iter().all(|x| x.abs() < half - 0.4 * SPACING), "{offset:?} of {half}");
    }
    let reported = scene.notices.iter().any(|notice| notice.contains("bodies take the room of"));
    assert!(reported, "{:?}", scene.notices);
}

#[test]
fn a_ball_is_filled_as_deep_as_fluids_see() {
    let scene = load(
        "at = [[0.2, 0.2, 0.16], [0.2, 0.2, 0.45]]\nradius = 0.06\ndisplaces_fluid = true",
        "",
    )
    .unwrap();
    let fluids = wet(&scene.world);
    // The support is three spacings, and so is the radius: the body is filled with particles.
    let ball = 4.0 / 3.0 * std::f64::consts::PI * 0.06f64.powi(3);
    for body_boundary in 0..2 {
        assert!(
            (volume(fluids, body_boundary) / ball - 1.0).abs() < 1e-3,
            "{} of {ball} m³",
            volume(fluids, body_boundary)
        );
    }
    assert_eq!(scene.world.grains.bodies.len(), 2);
}

#[test]
fn grains_that_do_not_displace_fluids_have_no_boundary_particles() {
    let scene = load(CUBE, "").unwrap();
    assert!(wet(&scene.world).body_boundaries.is_empty());
    assert_eq!(wet(&scene.world).particles.len(), 20 * 20 * 15);
}

#[test]
fn what_cannot_be_felt_is_refused() {
    let refused = |of_grains: &str, of_fluid: &str| load(of_grains, of_fluid).map(|_| ()).expect_err("a refusal");
    let thin = refused("at = [[0.2, 0.2, 0.16]]\nradius = 0.005\ndisplaces_fluid = true", "");
    assert!(thin.contains("no room for a particle"), "{thin}");
    // The support is three spacings, and so is the radius of the sphere.
    let large = refused(
        "at = [[0.2, 0.2, 0.16]]\nradius = 0.06\ndisplaces_fluid = true",
        "solver = \"muller2003\"",
    );
    for phrase in [
        "a sphere with a radius of 0.06 m",
        "at most 5.0000e-2 m",
        "finer spheres",
        "larger `support`",
    ] {
        assert!(large.contains(phrase), "no `{phrase}` in {large}");
    }
}

#[test]
fn mullers_fluid_feels_the_spheres_themselves_and_starts_where_they_touch() {
    let scene = load(&format!("{CUBE}\ndisplaces_fluid = true"), "solver = \"muller2003\"").unwrap();
    let (fluids, body) = (wet(&scene.world), &scene.world.grains.bodies[0]);
    let body_boundary = &fluids.body_boundaries[0];
    assert_eq!(body_boundary.offset.len(), body.carries.len());
    assert!(
        body_boundary
            .offset
            .iter()
            .zip(&body.carries)
            .all(|(offset, (_, carried))| offset == carried)
    );
    let grains = &scene.world.grains;
    for ((id, _), radius) in body.carries.iter().zip(&body_boundary.radius) {
        let k = grains.id.iter().position(|known| known == id).unwrap();
        assert_eq!(grains.radius[k], *radius);
    }
    let distance = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
    let mut nearest = f64::INFINITY;
    for (offset, radius) in body_boundary.offset.iter().zip(&body_boundary.radius) {
        let middle = body.place(*offset);
        for place in &fluids.particles.position {
            nearest = nearest.min(distance(middle, *place) - radius - 0.5 * SPACING);
        }
    }
    // None overlaps a sphere, and some are no farther than the next site of the lattice.
    assert!(nearest > -1e-6 * SPACING && nearest < SPACING, "{nearest}");
    // A quarter of density × stiffness × spacing.
    let kind = &fluids.kinds[0];
    let usual = 0.25 * 1000.0 * kind.sound_speed.powi(2) * SPACING;
    assert!((kind.body_stiffness / usual - 1.0).abs() < 1e-12, "{}", kind.body_stiffness);
    assert_eq!(kind.body_restitution, 0.7);
    assert!(
        scene.resolved.contains("body_stiffness = ") && scene.resolved.contains("body_restitution = 0.7"),
        "{}",
        scene.resolved
    );
}

#[test]
fn springs_are_as_keys_say() {
    let keys = "solver = \"muller2003\"\nbody_stiffness = \"120 N/m\"\nbody_restitution = 0.4";
    let scene = load(&format!("{CUBE}\ndisplaces_fluid = true"), keys).unwrap();
    let kind = &wet(&scene.world).kinds[0];
    assert_eq!((kind.body_stiffness, kind.body_restitution), (120.0, 0.4));
    let idle = load(CUBE, keys).unwrap();
    for key in ["body_stiffness", "body_restitution"] {
        let reported = format!("fluid.water.{key} has no effect");
        assert!(idle.notices.iter().any(|notice| notice.contains(&reported)), "{:?}", idle.notices);
    }
}

#[test]
fn grains_that_fluids_pass_through_are_reported() {
    let reported = |of_grains: &str| {
        load(of_grains, "")
            .unwrap()
            .notices
            .join("\n")
            .contains("fluids pass through grains.blocks")
    };
    assert!(reported(CUBE));
    assert!(reported("at = [[0.2, 0.2, 0.16]]\nradius = 0.06\nfixed = true"));
    assert!(!reported(&format!("{CUBE}\ndisplaces_fluid = true")));
}

/// A stage, and one that starts with melting.
fn thaw(what: &str) -> String {
    format!("[[stage]]\nname = \"float\"\nuntil = \"time > 0.1 s\"\n[[stage]]\nname = \"thaw\"\nmelt = [\"{what}\"]\n")
}

#[test]
fn a_block_melts_into_particles_that_fill_it() {
    let of_grains = format!("{CUBE}\ndisplaces_fluid = true\nmelts_into = \"water\"");
    let scene = load_staged(&of_grains, "", &thaw("grains.blocks")).unwrap();
    assert!(scene.plan.stages[1].text.contains("melts grains.blocks"));
    let [StageAction::Melt(0, melting)] = &scene.plan.stages[1].actions[..] else {
        panic!("{:?}", scene.plan.stages[1].actions)
    };
    let ([one], body) = (&melting[..], &scene.world.grains.bodies[0]) else {
        panic!("{melting:?}")
    };
    assert_eq!((one.body, one.fluid), (body.id, 0));
    let volume = body.mass / 500.0;
    let half = 0.5 * volume.cbrt();
    // The particles fill all of it, and at most half a spacing around it.
    let room = one.sites.len() as f64 * SPACING.powi(3);
    assert!(
        room > volume * (1.0 - 1e-9) && room < (2.0 * half + SPACING).powi(3),
        "{room} of {volume} m³"
    );
    assert!(one.sites.iter().flatten().all(|x| x.abs() < half));
    // Wood with half the density of water fills half of that with water, so that mass is conserved.
    let of_particle = 1000.0 * SPACING.powi(3);
    let melted = one.particles(body.mass, of_particle) as f64 * of_particle;
    assert!(
        (melted - body.mass).abs() <= 0.5 * of_particle * (1.0 + 1e-9),
        "{melted} of {} kg",
        body.mass
    );
    assert!(
        !scene.notices.iter().any(|notice| notice.contains("will melt into")),
        "{:?}",
        scene.notices
    );
}

#[test]
fn what_cannot_melt_is_refused() {
    let refused = |more: &str, what: &str| {
        let of_grains = format!("{CUBE}\n{more}");
        let found = load_staged(&of_grains, "", &thaw(what)).map(|_| ());
        found.expect_err("a refusal")
    };
    let wet = "displaces_fluid = true\n";
    let cases = [
        (wet.to_owned(), "grains.blocks", "nothing says into which fluid"),
        (
            "melts_into = \"water\"".to_owned(),
            "grains.blocks",
            "nothing says into which fluid",
        ),
        (format!("{wet}melts_into = \"wax\""), "grains.blocks", "no fluid is named `wax`"),
        (format!("{wet}melts_into = \"water\""), "wall.tank", "wall.tank cannot melt"),
        (
            format!("{wet}melts_into = \"water\""),
            "grains.ice",
            "no group of grains is named `ice`",
        ),
    ];
    for (more, what, phrase) in cases {
        let found = refused(&more, what);
        assert!(found.contains(phrase), "no `{phrase}` in\n{found}");
    }
    let of_grains = format!("{CUBE}\ndisplaces_fluid = true\nmelts_into = \"water\"");
    let found = load_staged(&of_grains, "solver = \"dfsph\"", &thaw("grains.blocks")).map(|_| ());
    let reported = found.expect_err("a refusal");
    for phrase in ["grains.blocks", "keep that velocity", "\"muller2003\""] {
        assert!(reported.contains(phrase), "no `{phrase}` in\n{reported}");
    }
}

#[test]
fn a_block_melts_into_the_same_particles_in_mullers_fluid() {
    let of_grains = format!("{CUBE}\ndisplaces_fluid = true\nmelts_into = \"water\"");
    let melting = |solver: &str| {
        let scene = load_staged(&of_grains, &format!("solver = \"{solver}\""), &thaw("grains.blocks")).unwrap();
        match &scene.plan.stages[1].actions[..] {
            [StageAction::Melt(0, melting)] => melting.clone(),
            actions => panic!("{actions:?}"),
        }
    };
    let melts = melting("wcsph");
    assert_eq!(melts.len(), 1);
    assert_eq!(melting("muller2003"), melts);
}

#[test]
fn small_grains_have_a_particle_each_and_take_no_room() {
    let places = "at = [[0.2, 0.2, 0.16], [0.2, 0.2, 0.45]]\nradius = 0.01\ncarried_by_fluid = true";
    let scene = load(places, "").unwrap();
    let fluids = wet(&scene.world);
    assert_eq!(fluids.particles.len(), 20 * 20 * 15);
    assert_eq!(fluids.body_boundaries.len(), 2);
    let bodies = &scene.world.grains.bodies;
    for (body_boundary, body) in fluids.body_boundaries.iter().zip(bodies) {
        assert_eq!((body_boundary.body, body_boundary.suspended), (body.id, Some(0.01)));
        assert_eq!(body_boundary.offset, [[0.0; 3]]);
        let mass = 4.0 / 3.0 * std::f64::consts::PI * 0.01f64.powi(3) * 500.0;
        assert!((body.mass / mass - 1.0).abs() < 1e-12, "{} kg", body.mass);
    }
}

#[test]
fn what_fluids_do_not_carry_is_refused() {
    let refused = |of_grains: &str, of_fluid: &str| {
        let text = format!("{of_grains}\ncarried_by_fluid = true");
        load(&text, of_fluid).map(|_| ()).expect_err("a refusal")
    };
    let small = "at = [[0.2, 0.2, 0.16]]\nradius = 0.01";
    // A quarter of a support of 6 cm is 15 mm.
    let large = refused("at = [[0.2, 0.2, 0.16]]\nradius = 0.016", "");
    assert!(
        large.contains("at most 1.5000e-2 m") && large.contains("displaces_fluid"),
        "{large}"
    );
    let both = refused(&format!("{small}\ndisplaces_fluid = true"), "");
    assert!(both.contains("flows around what displaces it"), "{both}");
    let clump = refused(CUBE, "");
    assert!(clump.contains("no clumps"), "{clump}");
    let fixed = refused(&format!("{small}\nfixed = true"), "");
    assert!(fixed.contains("`carried_by_fluid` does not go with `fixed`"), "{fixed}");
    let incompressible = refused(small, "solver = \"dfsph\"");
    assert!(incompressible.contains("solver = \"dfsph\" does not carry"), "{incompressible}");
}

#[test]
fn a_cross_of_two_beams_is_whole_where_they_overlap() {
    let text = "shape = \"cube\"\nat = [[0.2, 0.2, 0.16]]\nradius = 0.1\ndisplaces_fluid = true";
    let scene = load_with(&boxes(&[[0.1, 0.04, 0.04], [0.04, 0.1, 0.04]]), text, "", "").unwrap();
    let offsets = &wet(&scene.world).body_boundaries[0].offset;
    let reach = [0, 1, 2].map(|axis| offsets.iter().map(|at| at[axis].abs()).fold(0.0, f64::max));
    // In the frame of the principal axes one axis is normal to both beams: the one along which the cross is thinnest.
    let across = (0..3).min_by(|a, b| reach[*a].total_cmp(&reach[*b])).unwrap();
    let half = |along: usize, axis: usize| if axis == along { 0.1 } else { 0.04 };
    let is_in = |at: &[f64; 3], scale: f64, margin: f64| {
        let mut beams = (0..3).filter(|along| *along != across);
        beams.any(|along| (0..3).all(|axis| at[axis].abs() < half(along, axis) * scale - margin))
    };
    // The cross is scaled until its spheres fill the radius of the section. Its outermost particles give the factor to within a spacing.
    let outermost = reach.iter().copied().fold(0.0, f64::max);
    let [scale, largest] = [outermost, outermost + SPACING].map(|reach| reach / 0.1);
    assert!(offsets.iter().all(|at| is_in(at, largest, 0.0)), "{offsets:?}");
    // Beams no thicker than twice the support are filled with particles, and so is the middle.
    let places = (0..13usize.pow(3)).map(|k| [k % 13, k / 13 % 13, k / 169].map(|k| (k as f64 - 6.0) * 0.5 * SPACING));
    let inside: Vec<[f64; 3]> = places.filter(|at| is_in(at, scale, 0.5 * SPACING)).collect();
    assert!(inside.len() > 100, "{}", inside.len());
    for at in inside {
        let far = |place: &[f64; 3]| (0..3).map(|axis| (place[axis] - at[axis]).powi(2)).sum::<f64>().sqrt();
        let nearest = offsets.iter().map(far).fold(f64::INFINITY, f64::min);
        // Half of the diagonal of the largest cell.
        assert!(nearest < 0.87 * 1.25 * SPACING, "nothing within {nearest} m of {at:?}");
    }
}

#[test]
fn in_a_plane_a_ball_is_a_log_a_meter_long() {
    let scene = load_in_plane("at = [[0.2, 0, 0.16]]\nradius = 0.06\ndisplaces_fluid = true", "").unwrap();
    let (fluids, body) = (wet(&scene.world), &scene.world.grains.bodies[0]);
    let section = std::f64::consts::PI * 0.06f64.powi(2);
    assert!((body.mass / (500.0 * section) - 1.0).abs() < 1e-12, "{} kg", body.mass);
    // Moment of inertia of a cylinder about its axis.
    let moment = 0.5 * body.mass * 0.06f64.powi(2);
    assert!((body.moments[1] / moment - 1.0).abs() < 1e-12, "{:?}", body.moments);
    let fixed = load_in_plane("at = [[0.2, 0, 0.16]]\nradius = 0.06\ndisplaces_fluid = true\nfixed = true", "").unwrap();
    let held = &fixed.world.grains.bodies[0];
    assert!(
        (held.mass / body.mass - 1.0).abs() < 1e-12,
        "{} kg, free {} kg",
        held.mass,
        body.mass
    );
    // The support is three spacings, and so is the radius: the body is filled with particles.
    let body_boundary = &fluids.body_boundaries[0];
    let filled = volume(fluids, 0);
    assert!((filled / section - 1.0).abs() < 1e-3, "{filled} of {section} m²");
    assert!(
        body_boundary
            .offset
            .iter()
            .all(|at| at[1] == 0.0 && at[0].hypot(at[2]) < 0.06 - 0.25 * SPACING)
    );
    // Fluid loses the same volume, up to the layer of particles at the surface.
    let gone = (20 * 15 - fluids.particles.len()) as f64 * SPACING.powi(2);
    let layer = std::f64::consts::TAU * 0.06 * SPACING;
    assert!((gone - section).abs() < 0.6 * layer, "{gone} of {section} m²");
}

#[test]
fn in_a_plane_a_clump_is_its_disks_together_whichever_way_it_is_turned() {
    let pair = "[shape.pair]\nspheres = [{ at = [-0.6, 3, 0], radius = 1 }, { at = [0.6, 3, 0], radius = 1 }]\n";
    let of_grains = "shape = \"pair\"\nat = [[0.2, 0, 0.16]]\nradius = 0.08\norientation = { axis = [0, 1, 0], angle = \"30 deg\" }";
    let scene = load_in_plane(&format!("{of_grains}\ndisplaces_fluid = true"), pair).unwrap();
    let (fluids, body) = (wet(&scene.world), &scene.world.grains.bodies[0]);
    // Two disks minus the lens that both share; the total length is 3.2 radii.
    let lens = 2.0 * 0.6f64.acos() - 1.2 * (1.0f64 - 0.36).sqrt();
    let section = (std::f64::consts::TAU - lens) * (0.08f64 / 1.6).powi(2);
    assert!((body.mass / (500.0 * section) - 1.0).abs() < 1e-5, "{} kg", body.mass);
    for (id, offset) in &body.carries {
        let k = scene.world.grains.id.iter().position(|known| known == id).unwrap();
        assert_eq!([offset[1], scene.world.grains.position[k][1]], [0.0; 2]);
    }
    let body_boundary = &fluids.body_boundaries[0];
    assert!(body_boundary.offset.iter().all(|at| at[1] == 0.0 && body.place(*at)[1] == 0.0));
    let filled = volume(fluids, 0);
    assert!((filled / section - 1.0).abs() < 1e-3, "{filled} of {section} m²");
}

#[test]
fn in_a_plane_a_body_from_a_mesh_is_its_section_whichever_way_it_is_turned() {
    // A box of 12 by 6 cm and one layer of spheres, which touch and fill π/4 of it. The spheres extend beyond the mesh.
    let (half, radius) = ([0.06, 0.01, 0.03], 0.01);
    let plank = format!("[shape.plank]\nmesh = \"cube.obj\"\nspheres = {{ radius = {radius}, fill = \"solid\" }}\n");
    for angle in [0, 30, 90] {
        let of_grains = format!(
            "shape = \"plank\"\nat = [[0.195, 0, 0.165]]\norientation = {{ axis = [0, 1, 0], angle = \"{angle} deg\" }}\ndisplaces_fluid = true"
        );
        let text = text(&of_grains, "plane = \"xz\"").replace("min = [0, 0, 0]", "min = [0, -0.4, 0]") + &plank;
        let scene = load_beside(&boxes(&[half]), &text).unwrap();
        let (fluids, body) = (wet(&scene.world), &scene.world.grains.bodies[0]);
        let section = 4.0 * half[0] * half[2];
        assert!(
            (body.mass / (500.0 * section) - 1.0).abs() < 1e-6,
            "{} kg at {angle} deg",
            body.mass
        );
        let moment = body.mass * (half[0].powi(2) + half[2].powi(2)) / 3.0;
        assert!((body.moments[1] / moment - 1.0).abs() < 1e-6, "{:?} at {angle} deg", body.moments);
        // Three spacings deep from both sides: filled.
        let filled = volume(fluids, 0);
        assert!((filled / section - 1.0).abs() < 1e-3, "{filled} of {section} m² at {angle} deg");
        let is_in_plane = |at: &[f64; 3]| at[1] == 0.0 && body.place(*at)[1].abs() < 1e-15;
        assert!(fluids.body_boundaries[0].offset.iter().all(is_in_plane), "{angle} deg");
        let gone = (20 * 15 - fluids.particles.len()) as f64 * SPACING.powi(2);
        assert!((gone / section - 1.0).abs() < 0.1, "{gone} of {section} m² at {angle} deg");
    }
}

#[test]
fn a_body_takes_the_room_of_as_much_fluid_as_it_displaces() {
    // At any position relative to the lattice. Particles near its surface start a quarter of a spacing away from it.
    let (count, whole) = (30 * 30 * 30, 4.0 / 3.0 * std::f64::consts::PI * 0.1_f64.powi(3));
    for shift in [0.0, 0.003, 0.007, 0.01] {
        let of_grains = format!("at = [[{}, 0.3, 0.3]]\nradius = 0.1\ndisplaces_fluid = true", 0.3 + shift);
        let text = text(&of_grains, "")
            .replace("0.4, 0.4", "0.6, 0.6")
            .replace("0.6, 0.6, 0.3]", "0.6, 0.6, 0.6]");
        let scene = load_beside(&boxes(&[[0.06; 3]]), &text).unwrap();
        let particles = &wet(&scene.world).particles;
        let gone = (count - particles.len()) as f64 * SPACING.powi(3);
        // To the accuracy with which a lattice fills the volume of a sphere of five spacings.
        assert!((gone / whole - 1.0).abs() < 0.08, "{gone} of {whole} m³ at {shift} m");
        let nearest = particles
            .position
            .iter()
            .map(|[x, y, z]| (x - 0.3 - shift).hypot((y - 0.3).hypot(z - 0.3)) - 0.1);
        let nearest = nearest.fold(f64::INFINITY, f64::min);
        assert!(nearest > 0.249 * SPACING, "{nearest} m at {shift} m");
    }
}

#[test]
fn what_is_not_in_the_plane_of_a_flow_is_refused() {
    let ball = "radius = 0.06\ndisplaces_fluid = true";
    let in_plane = format!("at = [[0.2, 0, 0.16]]\n{ball}");
    let cases = [
        (format!("at = [[0.2, 0.1, 0.16]]\n{ball}"), "by its center"),
        (format!("{in_plane}\nvelocity = [0, 1, 0]"), "by its velocity"),
        (format!("{in_plane}\nangular_velocity = [1, 0, 0]"), "by its angular velocity"),
        (
            format!("{in_plane}\nmotion = {{ translate = [0, 1, 0] }}"),
            "by its motion.translate",
        ),
        (format!("{CUBE}\ndisplaces_fluid = true"), "the spheres of the shape are not in one"),
        (
            "at = [[0.2, 0, 0.16]]\nradius = 0.01\ncarried_by_fluid = true".to_owned(),
            "grains are spheres in space",
        ),
    ];
    for (of_grains, phrase) in cases {
        let found = load_in_plane(&of_grains, "").map(|_| ()).expect_err("a refusal");
        assert!(found.contains(phrase), "no `{phrase}` in\n{found}");
    }
    let found = load_in_plane(&format!("{in_plane}\nmelts_into = \"water\""), &thaw("grains.blocks")).map(|_| ());
    let reported = found.expect_err("a refusal");
    assert!(reported.contains("flow in space alone"), "{reported}");
}
