//! Why a world is not simulated: every message names the thing, its value, the limit and the remedy.

/// A world or setting that cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The GPU that the run was to use is not there, or does not suffice.
    #[error(transparent)]
    Gpu(#[from] seixo_device::gpu::GpuError),
    /// The device does not compute like this.
    #[error("the CPU computes in f64, not in {precision}; leave --precision out, or use --device gpu")]
    Precision {
        /// What was asked for.
        precision: &'static str,
    },
    /// A fluid that cannot be simulated.
    #[error("{0}")]
    Fluid(String),
    /// A world that cannot be divided among domains.
    #[error("{0}")]
    Division(String),
    /// Coordinates with too few digits.
    #[error(
        "at a coordinate of {farthest:.3e} m, places in {precision} are {quantum:.3e} m apart: {what}; {instead}move the scene nearer to the origin"
    )]
    Digits {
        /// The precision.
        precision: &'static str,
        /// The largest coordinate \[m\].
        farthest: f64,
        /// By how much coordinates there differ at least \[m\].
        quantum: f64,
        /// What is lost.
        what: String,
        /// Whether that is the way of a step, rather than overlaps.
        is_of_step: bool,
        /// What to do instead of moving the scene, if anything.
        instead: &'static str,
    },
    /// Temperatures with too few digits.
    #[error("in f32 a temperature has too few digits for what a step adds to it; use --precision mixed or f64")]
    HeatInSingle,
    /// The device does not put forces together like this.
    #[error("the CPU has one way to put forces together, not {assembly}; leave --assembly out, or use --device gpu")]
    Assembly {
        /// What was asked for.
        assembly: &'static str,
    },
    /// Several launches put forces together only where contacts rub and no more, of single grains, in worlds that are not divisible, and sides are open.
    #[error(
        "{assembly} puts together forces of friction in open domains, not of attraction, rolling, twisting or plastic flow, nor across periodic sides, of rigid bodies, for Gear's methods or in divisible worlds; leave the assembly out"
    )]
    AssemblyElsewhere {
        /// What was asked for.
        assembly: &'static str,
    },
    /// Bonds that cannot be.
    #[error("bonds {name}: {what}")]
    Bond {
        /// Their name.
        name: String,
        /// What is wrong with them.
        what: String,
    },
    /// Bonds that are made while grains move would ask for a shorter time step than the one in use.
    #[error(
        "{cause}, cannot be made now: the time step {value:.4e} s is above their stable limit {limit:.4e} s; start again with a run.time_step below it, or with softer or longer bonds"
    )]
    BondStep {
        /// The step in use \[s\].
        value: f64,
        /// The limit \[s\].
        limit: f64,
        /// What sets the limit.
        cause: String,
    },
    /// No grain in the world.
    #[error("the world holds no grain; add a [grains.*] table")]
    NoGrains,
    /// Two grains share an id.
    #[error("two grains have the id {id}; give every grain its own")]
    DuplicateId {
        /// The id.
        id: u32,
    },
    /// A number is not usable.
    #[error("grain {id}: {what} is {value}, must be {must}")]
    Grain {
        /// The grain.
        id: u32,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// A number of a rigid body is not usable.
    #[error("body {id}: {what} is {value}, must be {must}")]
    Body {
        /// The body.
        id: u32,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// The motion of a rigid body that is held, or the joint of one, is not usable.
    #[error("body {id}: {what}")]
    BodyMotion {
        /// The body.
        id: u32,
        /// What is wrong, with value, limit and remedy.
        what: String,
    },
    /// Something does not go together with rigid bodies.
    #[error("rigid bodies do not go with {what}; {remedy}")]
    WithBodies {
        /// What does not.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A material number is not usable.
    #[error("material {name}: {what} is {value}, must be {must}")]
    Material {
        /// The material.
        name: String,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// Two materials that can meet have no interaction.
    #[error("materials {a} and {b} can touch, but no interaction is given; add [interaction.{a}-{b}]")]
    NoInteraction {
        /// One material.
        a: String,
        /// The other.
        b: String,
    },
    /// An interaction number is not usable.
    #[error("interaction {a}-{b}: {what}")]
    Interaction {
        /// One material.
        a: String,
        /// The other.
        b: String,
        /// What is wrong, with value, limit and remedy.
        what: String,
    },
    /// A wall is not usable.
    #[error("wall {name}: {what}")]
    Wall {
        /// The wall.
        name: String,
        /// What is wrong, with value, limit and remedy.
        what: String,
    },
    /// The time step is above the stable limit.
    #[error(
        "the time step {value:.4e} s is above the stable limit {limit:.4e} s set by {cause}; use \"auto\" ({auto:.4e} s) or less than the limit"
    )]
    TimeStep {
        /// The step asked for \[s\].
        value: f64,
        /// The limit \[s\].
        limit: f64,
        /// The step that "auto" takes \[s\].
        auto: f64,
        /// What sets the limit.
        cause: String,
    },
    /// Grains overlap at the start.
    #[error(
        "grains {a} and {b} overlap by {overlap:.3e} m at the start, {share:.1} % of the smaller radius; the limit is {limit:.1} %: move or shrink them, or raise run.overlap_limit"
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
    },
    /// A grain that comes is not of a kind that was announced.
    #[error("grain {id} of radius {radius:.4e} m comes, but no such grains were announced; add their material and radii to World::later")]
    Unexpected {
        /// The grain.
        id: u32,
        /// Its radius \[m\].
        radius: f64,
    },
    /// A grain would come where something is.
    #[error(
        "grain {id} cannot come at ({x:.4e}, {y:.4e}, {z:.4e}) m: a grain or wall is there; move it, or let it come before or later",
        x = at[0], y = at[1], z = at[2]
    )]
    Taken {
        /// The grain.
        id: u32,
        /// Where \[m\].
        at: [f64; 3],
    },
    /// A wall would appear in a grain.
    #[error(
        "{partner} cannot appear: grain {id} would be {share:.1} % of its radius inside it; the limit is {limit:.1} %: let it appear elsewhere or later, or raise run.overlap_limit"
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
    },
    /// A wall would appear in a fluid.
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
        /// Its particle that is nearest to one of the wall.
        id: u32,
        /// Where that is \[m\].
        at: [f64; 3],
        /// How far the two are apart \[m\].
        distance: f64,
        /// The limit \[m\].
        limit: f64,
    },
    /// A wall would appear before fluid that it has to hold.
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
        /// Its particle that is deepest.
        id: u32,
        /// Where that is \[m\].
        at: [f64; 3],
        /// How deep it is behind the wall \[m\].
        depth: f64,
        /// The limit \[m\].
        limit: f64,
    },
    /// A grain that was held would go free inside of something.
    #[error(
        "grain {id} cannot go free: it would be {share:.1} % of the smaller radius inside {partner}, which it did not feel while it was held; the limit is {limit:.1} %: let it go elsewhere, or raise run.overlap_limit"
    )]
    FreedInside {
        /// The grain.
        id: u32,
        /// What it is in: a grain's id or a wall's name.
        partner: String,
        /// Overlap over the smaller radius \[%\].
        share: f64,
        /// The limit \[%\].
        limit: f64,
    },
    /// Grains that cannot be held, set free or loaded.
    #[error("grains {group}: {what}")]
    Switch {
        /// Their group.
        group: String,
        /// Why not, with the remedy.
        what: String,
    },
    /// The simulation stopped while it was to be changed.
    #[error("{0}")]
    Stopped(Box<crate::guard::Stop>),
    /// A grain is inside a wall at the start.
    #[error(
        "grain {id} at ({x:.4e}, {y:.4e}, {z:.4e}) m is {share:.1} % of its radius inside a wall at the start; the limit is {limit:.1} %: move it, or raise run.overlap_limit",
        x = at[0], y = at[1], z = at[2]
    )]
    InWall {
        /// The grain.
        id: u32,
        /// Where \[m\].
        at: [f64; 3],
        /// Overlap over the radius \[%\].
        share: f64,
        /// The limit \[%\].
        limit: f64,
    },
    /// A domain is too short to be periodic.
    #[error(
        "along {axis} the domain is {length:.4e} m long, but periodic sides need more than {limit:.4e} m, twice the reach of the largest grain; enlarge world.domain or open these sides"
    )]
    PeriodicSide {
        /// The axis.
        axis: &'static str,
        /// Its length \[m\].
        length: f64,
        /// What it must be above \[m\].
        limit: f64,
    },
    /// Sides slide that cannot.
    #[error("shear needs two different axes whose sides are periodic, and a rate; check world.domain.shear and world.domain.sides")]
    Shear,
    /// Local damping brakes the shear flow itself.
    #[error("local damping would brake the shear flow itself; remove run.local_damping or world.domain.shear")]
    DampedShear,
    /// A grain starts outside the domain.
    #[error("grain {id} starts at ({x:.4e}, {y:.4e}, {z:.4e}) m, outside the domain; enlarge world.domain or move it", x = at[0], y = at[1], z = at[2])]
    Outside {
        /// The grain.
        id: u32,
        /// Where \[m\].
        at: [f64; 3],
    },
    /// A setting is not usable.
    #[error("{what} is {value}, must be {must}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
    /// The threads could not be started.
    #[error(transparent)]
    Threads(#[from] seixo_device::CpuError),
    /// A checkpoint does not belong to this scene or build.
    #[error("the checkpoint does not fit: {what}; resume with the scene and version that wrote it")]
    State {
        /// What does not fit.
        what: String,
    },
}
