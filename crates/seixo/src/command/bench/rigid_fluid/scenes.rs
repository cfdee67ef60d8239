//! Worlds similar in kind to those of \[Silva 2010\], which gives numbers of particles and bodies, but no sizes and springs.

use super::super::case::{Jitter, open_box, with_room, world_of};
use super::super::fluid::{DENSITY, GRAVITY, SUPPORT_OF_MULLER, layers, muller, tank_of, water};
use super::shape::{self, RADIUS, Shape};
use super::tables::{Line, Table};
use clap::ValueEnum;
use seixo_engine::world::World;
use seixo_engine::world::{Body, BodyBoundary, Fluids, Grains, Interaction, Sphere, Wall, WallMotion};
use seixo_laws::contact::NormalLaw;
use std::f64::consts::PI;

/// Gap between bodies at the start \[m\]; half of it is below the bodies and at walls.
const GAP: f64 = 0.1 * RADIUS;
/// Largest random velocity along each axis at the start \[m/s\]; a downward velocity of the same size is added.
const SPEED: f64 = 0.5;
/// Largest speed at the start: √(1² + 1² + 2²) times [`SPEED`] \[m/s\].
const FASTEST: f64 = 2.45 * SPEED;
/// Overlap of a body that fell from the top of its pile and lands on a single sphere \[radii\].
const DEEPEST: f64 = 0.4;
/// Restitution of two single spheres; a lower value would shorten the time step. Bodies are heavier, so their restitution is higher.
const RESTITUTION: f64 = 0.2;
/// Spacing of the fluid in scenes with bodies: that of the spheres of the bodies \[m\].
const SPACING: f64 = 2.0 * RADIUS;
/// Largest radius of spheres that the fluid of \[Müller 2003\] meets \[m\]: its support less half a spacing.
pub const COARSEST: f64 = (SUPPORT_OF_MULLER - 0.5) * SPACING;
/// Depth of the fluid below falling bodies \[spacings\]: about half the height of a body.
const DEPTH: f64 = 4.0;
/// Height of the walls of particles over that depth.
const RIM: i64 = 3;
/// Support of the water \[spacings\]: some 80 neighbors.
const SUPPORT: f64 = 2.7;

/// Interaction of bodies and fluid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Coupling {
    /// Solver of [Müller 2003]: springs and dampers between fluid particles and spheres, as in [Silva 2010]
    #[default]
    #[value(name = "muller2003")]
    Muller2003,
    /// Weakly compressible SPH: boundary particles at the centers of the spheres, as at walls
    Wcsph,
}

impl Coupling {
    /// Name of the solver.
    pub fn name(self) -> &'static str {
        match self {
            Coupling::Wcsph => "wcsph",
            Coupling::Muller2003 => "muller2003",
        }
    }
}

/// Builds the scene of a line of a table.
pub fn world(table: Table, line: &Line, shape: &Shape, coupling: Coupling) -> World {
    match table {
        Table::Fluid => fluid_alone(line.fluid),
        Table::Bodies => bodies_alone(line.bodies, shape),
        Table::Apart => apart(line, shape),
        Table::Together => together(line, shape, coupling),
    }
}

/// A cube of the fluid of \[Müller 2003\] with an edge of 1 m, which collapses in a box twice as long.
pub fn fluid_alone(particles: usize) -> World {
    let side = side_of_cube(particles);
    let walls = open_box([2.0, 1.0]);
    let cube = layers(particles, [side; 2], 1.0 / side as f64, |_| 0.0);
    let fluids = muller(cube, 1.0 / side as f64, speed_of_fall(1.0, 0.0), walls.len());
    World {
        fluids: Some(fluids),
        ..world_of(Grains::default(), Interaction::default(), walls, -GRAVITY)
    }
}

/// A pile of bodies that collapses in a box.
fn bodies_alone(bodies: usize, shape: &Shape) -> World {
    let pile = Pile::new(shape, bodies, [side_of_cube(bodies); 2], [0.0; 3]);
    let walls = open_box([pile.end[0], pile.end[1]]);
    pile.world(shape, walls, None)
}

/// The same pile in one half of a box, and a cube of the fluid of \[Müller 2003\] in the other.
fn apart(line: &Line, shape: &Shape) -> World {
    let side = side_of_cube(line.fluid);
    let edge = side as f64 * SPACING;
    let pile = Pile::new(shape, line.bodies, [side_of_cube(line.bodies); 2], [edge, 0.0, 0.0]);
    let walls = open_box([pile.end[0], pile.end[1].max(edge)]);
    let cube = layers(line.fluid, [side; 2], SPACING, |_| 0.0);
    let fluids = muller(cube, SPACING, speed_of_fall(edge, 0.0), walls.len());
    pile.world(shape, walls, Some(fluids))
}

/// A pool, and a pile of bodies right above it that falls in.
fn together(line: &Line, shape: &Shape, coupling: Coupling) -> World {
    let [length, width, _] = shape.size.map(|edge| edge + GAP);
    // At least one body fits into the pool.
    let side = ((line.fluid as f64 / DEPTH).sqrt() as usize).max((length.max(width) / SPACING).ceil() as usize);
    let edge = side as f64 * SPACING;
    let surface = line.fluid.div_ceil(side * side) as f64 * SPACING;
    let across = [length, width].map(|pitch| ((edge / pitch) as usize).max(1));
    let pile = Pile::new(shape, line.bodies, across, [0.0, 0.0, surface]);
    let walls = open_box([edge; 2]);
    let fastest = speed_of_fall(pile.end[2], FASTEST);
    let pool = |pressure: &dyn Fn(f64) -> f64| layers(line.fluid, [side; 2], SPACING, pressure);
    let mut fluids = match coupling {
        Coupling::Muller2003 => muller(pool(&|_| 0.0), SPACING, fastest, walls.len()),
        Coupling::Wcsph => {
            let cells = side as i64;
            let tank = tank_of([cells, cells, RIM * DEPTH as i64], SUPPORT.ceil() as i64, SPACING);
            let at_rest = pool(&|height| DENSITY * GRAVITY * (surface - height));
            water(at_rest, tank, [SPACING, SUPPORT], 10.0 * fastest, walls.len())
        }
    };
    let body_boundary = |body: u32| BodyBoundary {
        body,
        offset: shape.offsets.clone(),
        slips: true,
        // Bodies of [Silva 2010] interact with the fluid by their spheres.
        radius: match coupling {
            Coupling::Muller2003 => vec![shape.radius; shape.offsets.len()],
            Coupling::Wcsph => Vec::new(),
        },
        volume: Vec::new(),
        suspended: None,
    };
    fluids.body_boundaries = pile.grains.bodies.iter().map(|body| body_boundary(body.id)).collect();
    pile.world(shape, walls, Some(fluids))
}

/// Adds a body of fixed spheres: a floor below all bodies and fluids, whose top has the height of the wall there. Without bodies it adds nothing.
pub fn lay_floor(world: &mut World) {
    if world.grains.is_empty() {
        return;
    }
    let fluid = world.fluids.iter().flat_map(|fluids| &fluids.particles.position);
    let far = world.grains.position.iter().chain(fluid).fold([0.0; 2], |far: [f64; 2], at| {
        [far[0].max(at[0] + RADIUS), far[1].max(at[1] + RADIUS)]
    });
    let [columns, rows] = far.map(|length| (length / (2.0 * RADIUS)).ceil() as usize);
    let center = [columns as f64 * RADIUS, rows as f64 * RADIUS, -RADIUS];
    let offset = |k: usize| {
        let at = [(k % columns) as f64, (k / columns) as f64].map(|cell| (2.0 * cell + 1.0) * RADIUS);
        [at[0] - center[0], at[1] - center[1], 0.0]
    };
    let first = world.grains.len() as u32;
    let spheres: Vec<Sphere> = (first..)
        .zip((0..columns * rows).map(offset))
        .map(|(id, offset)| Sphere {
            id,
            offset,
            radius: RADIUS,
        })
        .collect();
    let of_sphere = shape::DENSITY * 4.0 / 3.0 * PI * RADIUS.powi(3);
    let along = |axis: usize| spheres.iter().map(|sphere| sphere.offset[axis].powi(2)).sum::<f64>() * of_sphere;
    let own = 0.4 * RADIUS * RADIUS * of_sphere * spheres.len() as f64;
    let body = Body {
        id: world.grains.bodies.len() as u32,
        mass: of_sphere * spheres.len() as f64,
        moments: [own + along(1), own + along(0), own + along(0) + along(1)],
        center,
        orientation: [1.0, 0.0, 0.0, 0.0],
        velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        motion: Some(WallMotion::default()),
        joint: None,
        carries: Vec::new(),
    };
    world.grains.push_body(body, &spheres, 0, 0);
}

/// Speed after a fall from a height with an initial speed \[m/s\].
fn speed_of_fall(height: f64, before: f64) -> f64 {
    (2.0 * GRAVITY * height + before * before).sqrt()
}

/// Number of items along an edge of a cube for `count` items.
fn side_of_cube(count: usize) -> usize {
    (count as f64).cbrt().ceil().max(1.0) as usize
}

/// Bodies in layers on a rectangular lattice.
struct Pile {
    grains: Grains,
    /// Corner of the box that is farthest from the origin \[m\].
    end: [f64; 3],
}

impl Pile {
    /// Builds a pile of `bodies` bodies, with `columns` along x and `rows` along y, in a box with this lower corner \[m\].
    fn new(shape: &Shape, bodies: usize, [columns, rows]: [usize; 2], corner: [f64; 3]) -> Pile {
        let pitch = shape.size.map(|edge| edge + GAP);
        let mut jitter = Jitter(1);
        let mut grains = with_room(bodies * shape.offsets.len());
        for k in 0..bodies {
            let cell = [k % columns, k / columns % rows, k / (columns * rows)];
            let middle = [0, 1, 2].map(|axis| corner[axis] + (cell[axis] as f64 + 0.5) * pitch[axis]);
            let velocity = [0.0, 0.0, -1.0].map(|down: f64| SPEED * (down + jitter.next()));
            shape.put(&mut grains, middle, velocity);
        }
        let counts = [columns, rows, bodies.div_ceil(columns * rows)];
        let end = [0, 1, 2].map(|axis| corner[axis] + counts[axis] as f64 * pitch[axis]);
        Pile { grains, end }
    }

    /// Builds the world. Springs are as in \[Silva 2010\], with dampers and without friction. Their stiffness follows from a fall through the pile: k
    /// δ² = m v².
    fn world(self, shape: &Shape, walls: Vec<Wall>, fluids: Option<Fluids>) -> World {
        let interaction = Interaction {
            normal: NormalLaw::Linear,
            stiffness: Some(shape.mass * (speed_of_fall(self.end[2], FASTEST) / (DEEPEST * RADIUS)).powi(2)),
            restitution: RESTITUTION,
            ..Interaction::default()
        };
        let mut world = World {
            fluids,
            ..world_of(self.grains, interaction, walls, -GRAVITY)
        };
        world.materials[0].density = shape::DENSITY;
        world
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seixo_engine::Simulation;
    use seixo_engine::world::{Search, Settings};

    fn started(world: World) -> Simulation {
        let settings = Settings {
            threads: 2,
            ..Settings::default()
        };
        Simulation::new(world, settings).unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    fn scene(table: Table, fluid: usize, bodies: usize) -> World {
        let line = Line {
            fluid,
            bodies,
            published: [None; 4],
            published_pictures: [None; 4],
        };
        world(table, &line, &Shape::ellipsoid(), Coupling::Wcsph)
    }

    #[test]
    fn every_scene_has_what_its_table_says_and_nothing_touches_at_the_start() {
        let shape = Shape::ellipsoid();
        for table in Table::value_variants() {
            for line in table.lines() {
                let simulation = started(world(*table, &line, &shape, Coupling::Wcsph));
                assert_eq!(simulation.len(), 76 * line.bodies);
                assert_eq!(simulation.fluid_particles(), line.fluid);
                assert_eq!(simulation.contacts(), 0, "{table:?} {line:?}");
            }
        }
    }

    #[test]
    fn bodies_land_on_a_floor_of_fixed_spheres() {
        let mut world = scene(Table::Bodies, 0, 26);
        // Without the plane below, the spheres alone stop the bodies.
        world.walls.remove(2);
        let bodies = world.grains.len();
        lay_floor(&mut world);
        let mut simulation = Simulation::new(
            world,
            Settings {
                search: Search::SpatialHashStatic,
                threads: 2,
                ..Settings::default()
            },
        )
        .unwrap_or_else(|refusal| panic!("{refusal}"));
        let fixed = simulation.static_table().unwrap();
        assert_eq!(fixed.spheres, simulation.len() - bodies);
        assert_eq!(simulation.contacts(), 0);
        simulation.advance(1500).unwrap();
        assert!(simulation.contacts() > 0 && simulation.rebuilds() > 3);
        assert_eq!(simulation.static_table(), Some(fixed));
        let lowest = simulation.snapshot().position.iter().map(|at| at[2]).fold(f64::INFINITY, f64::min);
        assert!(lowest > -1.01 * RADIUS, "no body is below the floor: {lowest}");
    }

    #[test]
    fn bodies_meet_while_they_are_measured() {
        let mut simulation = started(scene(Table::Bodies, 0, 26));
        let start = simulation.ledger();
        simulation.advance(1500).unwrap();
        let ledger = simulation.ledger();
        assert!(ledger.normal_damping > 0.01 * start.kinetic, "{ledger:?}");
        assert!(ledger.rotational > 0.0);
        // The ledger computes dissipation at the ends of steps, of which a collision has some 40.
        assert!(ledger.residual.abs() < 0.02 * start.kinetic, "{ledger:?}");
    }

    #[test]
    fn bodies_apart_from_a_fluid_move_as_without_it() {
        let with = scene(Table::Apart, 64, 8);
        let without = World {
            fluids: None,
            ..with.clone()
        };
        let [with, without] = [with, without].map(|world| {
            let mut simulation = started(world);
            simulation.advance(100).unwrap();
            simulation
        });
        assert_eq!(with.time_step().value, without.time_step().value);
        assert_eq!(with.bodies(), without.bodies());
    }

    #[test]
    fn bodies_that_fall_into_a_pool_are_held_up_by_it() {
        let world = scene(Table::Together, 400, 4);
        let fluids = world.fluids.as_ref().unwrap();
        let lowest = world.grains.position.iter().map(|at| at[2]).fold(f64::INFINITY, f64::min);
        let highest = fluids.particles.position.iter().map(|at| at[2]).fold(0.0, f64::max);
        assert!(lowest - highest >= SPACING, "{lowest} {highest}");
        let mut simulation = started(world);
        let up = |simulation: &Simulation| -> f64 { simulation.bodies().iter().map(|body| body.mass * body.velocity[2]).sum() };
        let weight: f64 = simulation.bodies().iter().map(|body| body.mass * GRAVITY).sum();
        let before = up(&simulation);
        simulation.advance(200).unwrap();
        let given = up(&simulation) - before + weight * simulation.time();
        assert!(given > 0.1 * weight * simulation.time(), "{given} N s");
        assert!(simulation.momentum_of_fluids()[2] < 0.0, "fluid that was at rest moves");
    }
}
