//! Errors of worlds and settings; each message names the object, its value, the limit and the remedy.

use crate::scalars::GrainScalar;

/// Name of the radius of which an overlap is a share: of a sphere, or `of_rounding` of a polyhedron.
fn radius_of_overlaps(of_rounding: bool) -> &'static str {
    if of_rounding { "rounding radius" } else { "radius" }
}

/// A world or setting that cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The requested GPU is missing or not sufficient.
    #[error(transparent)]
    Gpu(#[from] seixo_device::gpu::GpuError),
    /// The device does not support this precision.
    #[error("the CPU computes in f64 or mixed, not in {precision}; leave --precision out, or use --device gpu")]
    Precision {
        /// Requested precision.
        precision: &'static str,
    },
    /// A fluid that cannot be simulated.
    #[error("{0}")]
    Fluid(String),
    /// A world that cannot be decomposed into subdomains.
    #[error("{0}")]
    Subdomains(String),
    /// Coordinates with too few digits.
    #[error(
        "at a coordinate of {farthest:.3e} m, neighboring coordinates in {precision} are {quantum:.3e} m apart: {what}; {instead}move the scene nearer to the origin"
    )]
    Digits {
        /// The precision.
        precision: &'static str,
        /// Largest coordinate \[m\].
        farthest: f64,
        /// Smallest difference of two coordinates there \[m\].
        quantum: f64,
        /// Effect of the lost digits.
        what: String,
        /// Whether the displacement in a step is too small for the digits, and not the overlaps.
        is_of_step: bool,
        /// Remedy instead of a scene near the origin, if there is one.
        instead: &'static str,
    },
    /// A name that the world does not have.
    #[error("no {what} is named `{name}`; known are: {known}")]
    UnknownName {
        /// What it should name.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A scalar of grains with too few digits.
    #[error("in f32 {} has too few digits for what a step adds to it; use --precision mixed or f64", scalar.noun())]
    ScalarInSingle {
        /// The scalar.
        scalar: GrainScalar,
    },
    /// Assembly by contacts supports friction only, of free grains in one domain, without decomposition invariance, and with open sides.
    #[error("{assembly} does not assemble forces with {what}; write run.assembly = \"fused\"")]
    AssemblyElsewhere {
        /// Requested force assembly.
        assembly: &'static str,
        /// The feature of the world or the settings that it does not support.
        what: &'static str,
    },
    /// Bonds that are not possible.
    #[error("bonds {name}: {what}")]
    Bond {
        /// Name of the bonds.
        name: String,
        /// The problem.
        what: String,
    },
    /// Bonds made during the run would require a shorter time step than the current one.
    #[error(
        "{cause}, cannot be made now: the time step {value:.4e} s is above their stable limit {limit:.4e} s; start again with a run.time_step below it, or with softer or longer bonds"
    )]
    BondStep {
        /// Current time step \[s\].
        value: f64,
        /// The limit \[s\].
        limit: f64,
        /// Cause of the limit.
        cause: String,
    },
    /// The world contains no grain.
    #[error("the world holds no grain; add a [grains.*] table")]
    NoGrains,
    /// Two grains share an id.
    #[error("two grains have the id {id}; give every grain its own")]
    DuplicateId {
        /// The id.
        id: u32,
    },
    /// A number of a grain is not valid.
    #[error("grain {id}: {what} is {value}, must be {must}")]
    Grain {
        /// The grain.
        id: u32,
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Condition that it violates.
        must: &'static str,
    },
    /// A number of a rigid body is not valid.
    #[error("body {id}: {what} is {value}, must be {must}")]
    Body {
        /// The body.
        id: u32,
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Condition that it violates.
        must: &'static str,
    },
    /// The prescribed motion or the joint of a rigid body is not valid.
    #[error("body {id}: {what}")]
    BodyMotion {
        /// The body.
        id: u32,
        /// The problem, with value, limit and remedy.
        what: String,
    },
    /// A feature that cannot be combined with rigid bodies.
    #[error("rigid bodies do not go with {what}; {remedy}")]
    WithBodies {
        /// The feature.
        what: &'static str,
        /// Remedy.
        remedy: &'static str,
    },
    /// A shape of polyhedral grains is not valid.
    #[error("shape {name}: {what}")]
    Shape {
        /// The shape.
        name: String,
        /// The problem, with value and limit.
        what: String,
    },
    /// A feature that cannot be combined with polyhedral grains yet.
    #[error("polyhedral grains do not go with {what} yet; {remedy}")]
    WithPolyhedra {
        /// The feature.
        what: &'static str,
        /// Remedy.
        remedy: &'static str,
    },
    /// A number of a material is not valid.
    #[error("material {name}: {what} is {value}, must be {must}")]
    Material {
        /// The material.
        name: String,
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Condition that it violates.
        must: &'static str,
    },
    /// Two materials that may be in contact have no interaction.
    #[error("materials {a} and {b} can touch, but no interaction is given; add [interaction.{a}-{b}]")]
    NoInteraction {
        /// One material.
        a: String,
        /// The other.
        b: String,
    },
    /// A number of an interaction is not valid.
    #[error("interaction {a}-{b}: {what}")]
    Interaction {
        /// One material.
        a: String,
        /// The other.
        b: String,
        /// The problem, with value, limit and remedy.
        what: String,
    },
    /// A wall is not valid.
    #[error("wall {name}: {what}")]
    Wall {
        /// The wall.
        name: String,
        /// The problem, with value, limit and remedy.
        what: String,
    },
    /// A wall is to move too fast for the time step.
    #[error(
        "wall {name}, {how}, is too fast for the time step {dt:.4e} s, which allows {most:.3e} m/s; move it more slowly, or start again with a run.time_step of at most {limit:.4e} s"
    )]
    TooFast {
        /// The wall.
        name: String,
        /// Its speed, and how far it may go in a step.
        how: String,
        /// The time step \[s\].
        dt: f64,
        /// The speed that the time step allows \[m/s\].
        most: f64,
        /// The longest time step for its speed \[s\].
        limit: f64,
    },
    /// The time step is above the stable limit.
    #[error(
        "the time step {value:.4e} s is above the stable limit {limit:.4e} s set by {cause}; use \"auto\" ({auto:.4e} s) or less than the limit"
    )]
    TimeStep {
        /// Requested time step \[s\].
        value: f64,
        /// The limit \[s\].
        limit: f64,
        /// Time step with "auto" \[s\].
        auto: f64,
        /// Cause of the limit.
        cause: String,
    },
    /// Grains overlap at the start.
    #[error(
        "grains {a} and {b} overlap by {overlap:.3e} m at the start, {share:.1} % of the smaller {radius}; the limit is {limit:.1} %: move or shrink them, or raise run.overlap_limit",
        radius = radius_of_overlaps(*of_rounding)
    )]
    Overlap {
        /// One grain.
        a: u32,
        /// The other.
        b: u32,
        /// Overlap \[m\].
        overlap: f64,
        /// Overlap over the smaller radius \[%\].
        share: f64,
        /// The limit \[%\].
        limit: f64,
        /// Whether the radius is the rounding radius of a polyhedron.
        of_rounding: bool,
    },
    /// A new grain is of no expected kind. [`crate::world::LaterAdditions::grains`] announces kinds.
    #[error(
        "grain {id} of radius {radius:.4e} m cannot be added: {what}; use grains like these, or announce others by an inlet or a later group in the scene"
    )]
    Unexpected {
        /// The grain.
        id: u32,
        /// Its radius \[m\].
        radius: f64,
        /// What was prepared for grains of its material.
        what: String,
    },
    /// A new grain would overlap another object.
    #[error(
        "grain {id} cannot be added at ({x:.4e}, {y:.4e}, {z:.4e}) m: a grain or wall is there; move it, or add it before or later",
        x = at[0], y = at[1], z = at[2]
    )]
    Taken {
        /// The grain.
        id: u32,
        /// Its position \[m\].
        at: [f64; 3],
    },
    /// A wall would appear inside a grain.
    #[error(
        "{partner} cannot appear: grain {id} would be {share:.1} % of its {radius} inside it; the limit is {limit:.1} %: let it appear elsewhere or later, or raise run.overlap_limit",
        radius = radius_of_overlaps(*of_rounding)
    )]
    WallInGrain {
        /// The wall.
        partner: String,
        /// The grain.
        id: u32,
        /// Overlap over the radius \[%\].
        share: f64,
        /// The limit \[%\].
        limit: f64,
        /// Whether the radius is the rounding radius of a polyhedron.
        of_rounding: bool,
    },
    /// A wall would appear inside a fluid.
    #[error(
        "wall {wall} cannot appear at t = {time:.6e} s: particle {id} of {fluid:?} at ({x:.4e}, {y:.4e}, {z:.4e}) m would be {distance:.3e} m from a particle of it; the limit is {limit:.3e} m: let it appear where no fluid is, or be there from the start and move into the fluid",
        x = at[0], y = at[1], z = at[2]
    )]
    WallInFluid {
        /// The wall.
        wall: String,
        /// The time \[s\].
        time: f64,
        /// The fluid.
        fluid: String,
        /// The fluid particle that is nearest to a wall particle.
        id: u32,
        /// Its position \[m\].
        at: [f64; 3],
        /// Distance between the two \[m\].
        distance: f64,
        /// The limit \[m\].
        limit: f64,
    },
    /// A wall would appear in front of fluid that it has to contain.
    #[error(
        "wall {wall} cannot appear at t = {time:.6e} s: particle {id} of {fluid:?} at ({x:.4e}, {y:.4e}, {z:.4e}) m would be {depth:.3e} m behind it; the limit is {limit:.3e} m: let it appear where no fluid is, or be there from the start and move into the fluid",
        x = at[0], y = at[1], z = at[2]
    )]
    FluidBehindWall {
        /// The wall.
        wall: String,
        /// The time \[s\].
        time: f64,
        /// The fluid.
        fluid: String,
        /// The deepest fluid particle.
        id: u32,
        /// Its position \[m\].
        at: [f64; 3],
        /// Its depth behind the wall \[m\].
        depth: f64,
        /// The limit \[m\].
        limit: f64,
    },
    /// A grain released from prescribed motion would overlap another object.
    #[error(
        "grain {id} cannot be set free: it overlaps with {partner} by {share:.1} % of the smaller {radius}, as fixed grains have no contact with it; the limit is {limit:.1} %: set it free elsewhere, or raise run.overlap_limit",
        radius = radius_of_overlaps(*of_rounding)
    )]
    FreedInside {
        /// The grain.
        id: u32,
        /// The other object: id of a grain or name of a wall.
        partner: String,
        /// Overlap over the smaller radius \[%\].
        share: f64,
        /// The limit \[%\].
        limit: f64,
        /// Whether the radius is the rounding radius of a polyhedron.
        of_rounding: bool,
    },
    /// A body that froze out of a fluid would overlap another object.
    #[error(
        "grain {id} of what froze overlaps with {partner} by {share:.1} % of the smaller {radius}; the limit is {limit:.1} %: freeze a region that ends a spacing before walls and grains, or raise run.overlap_limit",
        radius = radius_of_overlaps(*of_rounding)
    )]
    FrozenInside {
        /// The grain, or one that was there.
        id: u32,
        /// The other object: id of a grain or name of a wall.
        partner: String,
        /// Overlap over the smaller radius \[%\].
        share: f64,
        /// The limit \[%\].
        limit: f64,
        /// Whether the radius is the rounding radius of a polyhedron.
        of_rounding: bool,
    },
    /// Grains that cannot be fixed, released or loaded.
    #[error("grains {group}: {what}")]
    Switch {
        /// Their group.
        group: String,
        /// The reason, with the remedy.
        what: String,
    },
    /// Loads that single grains cannot be given.
    #[error("external forces: {0}")]
    ExternalForces(String),
    /// The simulation stopped before a change, or when it was first observed.
    #[error("{0}")]
    Stopped(Box<crate::guard::StepError>),
    /// A grain is inside a wall at the start.
    #[error(
        "grain {id} at ({x:.4e}, {y:.4e}, {z:.4e}) m is {share:.1} % of its {radius} inside a wall at the start, wall {wall}; the limit is {limit:.1} %: move it, or raise run.overlap_limit",
        x = at[0], y = at[1], z = at[2], radius = radius_of_overlaps(*of_rounding)
    )]
    InWall {
        /// The grain.
        id: u32,
        /// Its position \[m\].
        at: [f64; 3],
        /// Name of the wall.
        wall: String,
        /// Overlap over the radius \[%\].
        share: f64,
        /// The limit \[%\].
        limit: f64,
        /// Whether the radius is the rounding radius of a polyhedron.
        of_rounding: bool,
    },
    /// A domain that is too short for periodic sides.
    #[error(
        "along {axis} the domain is {length:.4e} m long, but periodic sides need more than {limit:.4e} m, twice the reach of the largest grain; enlarge world.domain or open these sides"
    )]
    PeriodicSide {
        /// The axis.
        axis: &'static str,
        /// Its length \[m\].
        length: f64,
        /// Lower bound of the length \[m\].
        limit: f64,
    },
    /// Sheared sides that are not possible.
    #[error("shear needs two different axes whose sides are periodic, and a rate; check world.domain.shear and world.domain.sides")]
    Shear,
    /// Lengths of a domain that cannot be controlled.
    #[error("{0}")]
    Cell(String),
    /// Local damping would damp the shear flow itself.
    #[error("local damping would brake the shear flow itself; remove run.local_damping or world.domain.shear")]
    DampedShear,
    /// A grain starts outside the domain.
    #[error("grain {id} starts at ({x:.4e}, {y:.4e}, {z:.4e}) m, outside the domain; enlarge world.domain or move it", x = at[0], y = at[1], z = at[2])]
    Outside {
        /// The grain.
        id: u32,
        /// Its position \[m\].
        at: [f64; 3],
    },
    /// A setting is not valid.
    #[error("{what} is {value}, must be {must}")]
    FluidSurroundings {
        /// Name of the setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Condition that it violates.
        must: &'static str,
    },
    /// The threads could not be started.
    #[error(transparent)]
    Threads(#[from] seixo_device::CpuError),
    /// A checkpoint does not belong to this scene or build.
    #[error("the checkpoint does not fit: {what}; resume with the scene and version that wrote it")]
    State {
        /// The mismatch.
        what: String,
    },
}
