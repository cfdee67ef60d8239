//! Table of the rigid bodies and of the grains that they carry.

mod body_forces;
mod gear;

pub(crate) use body_forces::BodyForces;

use crate::fields::Fields;
use crate::joints::Joints;
use crate::measure::Work;
use crate::prescribed_motion::PrescribedBodies;
use crate::refusal::WorldError;
use crate::state::{Column, Sections, State};
use crate::world::{Body, Domain, Grains, Vec3, array, start_of, vector};
use seixo_laws::motion::velocity_ahead;
use seixo_laws::rotation::{angular_momentum, angular_velocity, energy_of_rotation};
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::bodies::{BodyForce, FREE, LOAD, is_carried, orientation_at, push_on, torque_of, with_load};
use seixo_sweeps::gear::{ORIENTATION_DERIVATIVES, POSITION_DERIVATIVES};
use seixo_sweeps::joints::{center_on, joint_response, spin_on, velocity_on};
use seixo_sweeps::layout::{RECORD, load, store};
use seixo_sweeps::motion::{MotionReport, StepParameters, acceleration};
use seixo_sweeps::periodic::{PeriodicBoundaries, wrap};
use std::borrow::Cow;
use std::collections::HashMap;

/// A body at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodySnapshot {
    /// Its id.
    pub id: u32,
    /// Mass \[kg\].
    pub mass: f64,
    /// Principal moments of inertia \[kg m²\].
    pub moments: [f64; 3],
    /// Center of mass \[m\].
    pub center: [f64; 3],
    /// Unit quaternion w x y z that turns the frame of its principal axes into the frame of space.
    pub orientation: [f64; 4],
    /// Velocity of the center of mass \[m/s\].
    pub velocity: [f64; 3],
    /// Angular velocity \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// Angular momentum about the center of mass \[kg m²/s\].
    pub angular_momentum: [f64; 3],
}

impl BodySnapshot {
    /// A direction of its frame, in the frame of space.
    pub fn turned(&self, direction: Vec3) -> Vec3 {
        array(&orientation_at(&self.orientation, 0).to_space(&vector(direction)))
    }

    /// Position in space of a point of its frame \[m\].
    pub fn place(&self, offset: Vec3) -> Vec3 {
        let arm = self.turned(offset);
        [0, 1, 2].map(|axis| self.center[axis] + arm[axis])
    }
}

/// Motion of a body at the whole step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving {
    /// Velocity of the center of mass \[m/s\].
    pub velocity: Vector3<f64>,
    /// Angular momentum about the center of mass \[kg m²/s\].
    pub momentum: Vector3<f64>,
    /// Angular velocity \[rad/s\].
    pub spin: Vector3<f64>,
    /// Stored angular momentum: for a body on a joint, about the pivot \[kg m²/s\].
    pub kept: Vector3<f64>,
}

/// All bodies; each column has a record of four numbers per body.
#[derive(Clone, Default)]
pub(crate) struct Bodies {
    /// Whether there are or were any bodies.
    pub are_present: bool,
    /// One report for each part of the bodies.
    pub motion_reports: Vec<MotionReport<f64>>,
    pub id: Vec<u32>,
    /// Index of the first member of each body, and the total number.
    pub row: Vec<u32>,
    /// Center of mass \[m\], mass \[kg\].
    pub center: Vec<f64>,
    /// Stored velocity, at half steps \[m/s\].
    pub half_velocity: Vec<f64>,
    /// Stored angular momentum, in the frame of space, about the center of mass or, for a body on a joint, about the pivot \[kg m²/s\].
    pub momentum: Vec<f64>,
    /// Orientation w x y z.
    pub orientation: Vec<f64>,
    /// Principal moments of inertia \[kg m²\].
    pub moments: Vec<f64>,
    /// Velocity that the laws read \[m/s\].
    pub velocity: Vec<f64>,
    /// Angular velocity that the laws read \[rad/s\].
    pub spin: Vec<f64>,
    /// Second to fourth derivatives of the centers; empty unless bodies move freely by Gear's method. Then the stored velocities are those at the whole
    /// step.
    pub position_derivatives: Vec<f64>,
    /// First to fourth derivatives of the orientations; empty if [`Bodies::position_derivatives`] is.
    pub orientation_derivatives: Vec<f64>,
    /// For each member: position in the frame of its body \[m\], and its share of the body's mass in the output \[-\].
    pub offset: Vec<f64>,
    /// For each member: orientation of its grain in the frame of its body, w x y z; empty if all are aligned with their bodies.
    pub own_orientation: Vec<f64>,
    /// For each member: its body, and the index of its grain or, in a subdomain, of the force on it.
    pub body_of: Vec<u32>,
    pub place: Vec<u32>,
    /// Forces on all members, if some of their grains are in other subdomains.
    pub body_forces: BodyForces,
    /// Ledger of the bodies in a subdomain since the last observation; it is the same in all subdomains.
    pub ledger: Work,
    /// Forces of fluids on bodies, see [`LOAD`]; empty if bodies do not interact with fluids.
    pub load: Vec<f64>,
    /// Bodies with prescribed motion. Checkpoints do not contain the motions: they are in the world or in the changes to it.
    pub held: PrescribedBodies,
    /// Bodies on joints; the world contains them, too.
    pub joints: Joints,
    /// Energy dissipated by local damping of bodies on a GPU since their upload \[J\].
    pub damped: f64,
    /// Power of prescribed motion at the last download from a GPU \[W\].
    pub power_of_prescribed_motion: f64,
    /// Sum of these powers over all steps since the upload to a GPU \[W\].
    pub put_in: f64,
}

/// Columns of bodies in checkpoints.
const COLUMNS: [&str; 8] = [
    "bodies/center",
    "bodies/half_velocity",
    "bodies/momentum",
    "bodies/turn",
    "bodies/moments",
    "bodies/velocity",
    "bodies/spin",
    "bodies/offset",
];

/// Largest distance of a grain of a body from where it is in the scene, in the frame of the body and as a share of the largest coordinate there:
/// rounding errors are far below it, also those of single precision on a GPU, and differences of other axes are far above it.
const SAME_PLACE: f64 = 1e-6;

/// Section of [`Bodies::own_orientation`], if it is not empty.
const OWN_ORIENTATION: &str = "bodies/own_turn";

/// Sections of [`Bodies::position_derivatives`] and [`Bodies::orientation_derivatives`], if they are not empty.
const DERIVATIVES: [&str; 2] = ["bodies/position_derivatives", "bodies/orientation_derivatives"];

/// Section of [`PrescribedBodies::numbers`], if a body has prescribed motion.
pub(crate) const PRESCRIBED_BODIES: &str = "bodies/held";

/// Weights by which the mass of a body is shared among its grains in the output: masses, where it has polyhedral grains, or else volumes of spheres.
fn weights_of(body: &Body, grains: &Grains, places: &HashMap<u32, usize>) -> Vec<f64> {
    let ids = || body.carries.iter().map(|(id, _)| id);
    let has_shapes = ids().any(|id| grains.shape.get(places[id]).is_some_and(|&shape| shape > 0));
    let masses: Option<Vec<f64>> = ids().map(|id| grains.masses.get(id).copied()).collect();
    masses
        .filter(|_| has_shapes)
        .unwrap_or_else(|| ids().map(|id| grains.radius[places[id]].powi(3)).collect())
}

impl Bodies {
    /// The bodies of a table of grains, and the member index of each grain, by id.
    pub fn new(grains: &Grains) -> (Bodies, HashMap<u32, u32>) {
        let places: HashMap<u32, usize> = grains.id.iter().copied().zip(0..).collect();
        let mut bodies = Bodies {
            are_present: true,
            row: vec![0],
            id: grains.bodies.iter().map(|body| body.id).collect(),
            ..Bodies::default()
        };
        bodies.joints = Joints::new(&grains.bodies, &bodies.id);
        let mut members = HashMap::new();
        for (b, body) in grains.bodies.iter().enumerate() {
            let (orientation, moments) = (body.quaternion(), vector(body.moments));
            let [velocity, spin] = start_of(body);
            let (center, momentum) = match bodies.joints.of(b) {
                Some(joint) => (
                    center_on(&joint, &orientation, &vector(body.center)),
                    angular_momentum(&orientation.after(&joint.frame), &spin, &joint.moments),
                ),
                None => (vector(body.center), angular_momentum(&orientation, &spin, &moments)),
            };
            bodies.center.extend([center.x, center.y, center.z, body.mass]);
            bodies.half_velocity.extend([velocity.x, velocity.y, velocity.z, 0.0]);
            bodies.velocity.extend([velocity.x, velocity.y, velocity.z, 0.0]);
            bodies.spin.extend([spin.x, spin.y, spin.z, 0.0]);
            bodies.momentum.extend([momentum.x, momentum.y, momentum.z, 0.0]);
            bodies
                .orientation
                .extend([orientation.w, orientation.x, orientation.y, orientation.z]);
            bodies.moments.extend([moments.x, moments.y, moments.z, 0.0]);
            let weights = weights_of(body, grains, &places);
            let all: f64 = weights.iter().sum();
            for ((id, offset), weight) in body.carries.iter().zip(weights) {
                members.insert(*id, bodies.body_of.len() as u32);
                bodies.offset.extend([offset[0], offset[1], offset[2], weight / all]);
                bodies.body_of.push(b as u32);
                if let Some(own) = grains.orientation.get(places[id]) {
                    let Quaternion { w, x, y, z } = orientation.back().after(&orientation_at(own, 0));
                    bodies.own_orientation.extend([w, x, y, z]);
                }
            }
            bodies.row.push(bodies.body_of.len() as u32);
        }
        bodies.place = vec![FREE; bodies.body_of.len()];
        bodies.held = PrescribedBodies::new(&grains.bodies, &bodies.id);
        (bodies, members)
    }

    /// Appends other bodies, which move freely, without the indices of their grains; returns the index of their first member.
    pub fn append(&mut self, mut other: Bodies) -> u32 {
        let (first, first_member) = (self.id.len() as u32, self.body_of.len() as u32);
        if self.row.is_empty() {
            self.row.push(0);
        }
        self.row.extend(other.row.iter().skip(1).map(|end| first_member + end));
        self.body_of.extend(other.body_of.iter().map(|b| first + b));
        self.place.extend(&other.place);
        if !self.load.is_empty() {
            self.load.extend(other.id.iter().flat_map(|_| [0.0; LOAD]));
        }
        if !self.own_orientation.is_empty() {
            self.own_orientation.extend(other.body_of.iter().flat_map(|_| [1.0, 0.0, 0.0, 0.0]));
        }
        self.id.append(&mut other.id);
        for (column, more) in self.columns().into_iter().zip(other.columns()) {
            column.append(more);
        }
        first_member
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Finds the index of the grain of each member or, in a subdomain, of the force on it.
    pub fn find_places(&mut self, member: &[u32]) {
        if self.body_forces.are_gathered() {
            self.place = (0..self.body_of.len() as u32).collect();
            return;
        }
        for (i, &m) in member.iter().enumerate().filter(|(_, m)| is_carried(**m)) {
            self.place[m as usize] = i as u32;
        }
    }

    /// Indices of bodies with prescribed motion, except those permanently at rest.
    pub fn moving_prescribed(&self) -> Vec<u32> {
        self.held.iter(false).map(|(b, _)| b as u32).collect()
    }

    /// Body of a member; `None` for a free grain.
    pub fn of(&self, member: u32) -> Option<usize> {
        self.body_of.get(member as usize).map(|&b| b as usize)
    }

    /// Whether body b has prescribed motion or a joint, so that its velocity cannot be set.
    pub fn is_bound(&self, b: usize) -> bool {
        self.held.is_body_prescribed(b) || self.joints.is_on_joint(b)
    }

    /// Body of each member for the exclusion of contacts: all bodies with prescribed motion count as one. A contact between two of them would move
    /// nothing, and its dashpot would have no effective mass.
    pub fn contact_body_of_members(&self) -> Cow<'_, [u32]> {
        let Some(first) = (0..self.len()).find(|&b| self.held.is_body_prescribed(b)) else {
            return Cow::Borrowed(&self.body_of);
        };
        let touching = |&b: &u32| {
            if self.held.is_body_prescribed(b as usize) {
                first as u32
            } else {
                b
            }
        };
        Cow::Owned(self.body_of.iter().map(touching).collect())
    }

    /// Position of a member relative to the center of its body \[m\].
    pub fn arm(&self, member: u32) -> Vector3<f64> {
        let b = self.body_of[member as usize] as usize;
        orientation_at(&self.orientation, b * RECORD).to_space(&load(&self.offset, member as usize * RECORD))
    }

    /// Orientation of the grain of a member of body b.
    pub fn orientation_of(&self, member: u32, b: usize) -> Quaternion<f64> {
        let orientation = orientation_at(&self.orientation, b * RECORD);
        if self.own_orientation.is_empty() {
            return orientation;
        }
        orientation.after(&orientation_at(&self.own_orientation, member as usize * RECORD))
    }

    /// Total force and torque on body b from its grains and from fluids.
    pub fn push(&self, b: usize, fields: &Fields) -> BodyForce<f64> {
        let push = self.push_of_grains(b, fields);
        if self.load.is_empty() {
            return push;
        }
        with_load(&push, b, &self.load)
    }

    /// Force and torque on body b from its grains.
    pub fn push_of_grains(&self, b: usize, fields: &Fields) -> BodyForce<f64> {
        let (first, end) = (self.row[b] as usize, self.row[b + 1] as usize);
        let orientation = orientation_at(&self.orientation, b * RECORD);
        let [force, torque] = self.body_forces.or_of(fields);
        push_on::<f64, f64>(first, end, &self.place, &self.offset, &orientation, force, torque, true)
    }

    /// Rates of change of the stored velocity \[m/s²\] and angular momentum \[N m\] of body b under these forces of its grains.
    pub fn rates(&self, b: usize, fields: &Fields, stepping: &StepParameters<f64, f64>) -> [Vector3<f64>; 2] {
        let (at, push) = (b * RECORD, self.push(b, fields));
        let (velocity, spin, mass) = (load(&self.velocity, at), load(&self.spin, at), self.center[at + 3]);
        if let Some(joint) = self.joints.of(b) {
            let yields = joint_response(
                &push,
                &joint,
                &orientation_at(&self.orientation, at),
                &velocity,
                &spin,
                mass,
                stepping,
            );
            return [yields.sliding.rate, yields.turning.rate];
        }
        let linear = acceleration(&velocity, mass, &push.force, stepping);
        let turning = torque_of(&spin, &push.torque, &push.torque, stepping.local_damping);
        [linear.rate, turning.rate]
    }

    /// Motion of body b at the whole step, under these forces of its grains.
    pub fn moving(&self, b: usize, fields: &Fields, stepping: &StepParameters<f64, f64>) -> Moving {
        let at = b * RECORD;
        if self.held.is_body_prescribed(b) {
            let momentum = load(&self.momentum, at);
            return Moving {
                velocity: load(&self.velocity, at),
                momentum,
                spin: load(&self.spin, at),
                kept: momentum,
            };
        }
        let [linear, turning] = self.rates(b, fields, stepping);
        let velocity = velocity_ahead(&load(&self.half_velocity, at), &linear, stepping.velocity_lead);
        let kept = velocity_ahead(&load(&self.momentum, at), &turning, stepping.velocity_lead);
        let (orientation, moments) = (orientation_at(&self.orientation, at), load(&self.moments, at));
        match self.joints.of(b) {
            Some(joint) => {
                let spin = spin_on(&joint, &orientation, &kept);
                Moving {
                    velocity: velocity_on(&joint, &orientation, &spin, &velocity),
                    momentum: angular_momentum(&orientation, &spin, &moments),
                    spin,
                    kept,
                }
            }
            None => Moving {
                velocity,
                momentum: kept,
                spin: angular_velocity(&orientation, &kept, &moments),
                kept,
            },
        }
    }

    /// Motions of all bodies at the whole step.
    pub fn all_moving(&self, fields: &Fields, stepping: &StepParameters<f64, f64>) -> Vec<Moving> {
        (0..self.len()).map(|b| self.moving(b, fields, stepping)).collect()
    }

    /// Sets the stored velocities of body b, and its series of Gear's method, from this motion at the whole step and these forces; not with prescribed
    /// motion.
    pub fn go_on_from(&mut self, b: usize, moving: &Moving, fields: &Fields, stepping: &StepParameters<f64, f64>) {
        if !self.held.is_body_prescribed(b) {
            store(&mut self.half_velocity, b * RECORD, &moving.velocity);
            store(&mut self.momentum, b * RECORD, &moving.kept);
            self.shift_to_half_step(b, fields, stepping);
            self.begin_gear(b, fields, stepping);
        }
    }

    /// Rotational energy of body b with this angular momentum \[J\].
    pub fn rotational(&self, b: usize, momentum: &Vector3<f64>) -> f64 {
        energy_of_rotation(
            &orientation_at(&self.orientation, b * RECORD),
            momentum,
            &load(&self.moments, b * RECORD),
        )
    }

    /// Motions of bodies on joints at the whole step, with their indices in the table.
    pub fn moving_on_joints(&self, fields: &Fields, stepping: &StepParameters<f64, f64>) -> Vec<(usize, Moving)> {
        let on_joints = (0..self.len()).filter(|&b| self.joints.is_on_joint(b));
        on_joints.map(|b| (b, self.moving(b, fields, stepping))).collect()
    }

    /// Shifts stored velocities half a step back, to the first half step; not with prescribed motion.
    pub fn shift_to_half_step(&mut self, b: usize, fields: &Fields, stepping: &StepParameters<f64, f64>) {
        if self.held.is_body_prescribed(b) {
            return;
        }
        let (at, ahead) = (b * RECORD, stepping.velocity_lead);
        let [linear, turning] = self.rates(b, fields, stepping);
        let kept: Vector3<f64> = load(&self.half_velocity, at);
        store(&mut self.half_velocity, at, &kept.minus(&linear.times(ahead)));
        let kept: Vector3<f64> = load(&self.momentum, at);
        store(&mut self.momentum, at, &kept.minus(&turning.times(ahead)));
    }

    /// Wraps centers that left through periodic sides; returns their Σ m g·Δx \[J\], the work of the sides.
    ///
    /// Centers of bodies with prescribed motion are never outside, and bodies on pivots stay there.
    pub fn put_back(&mut self, sides: &PeriodicBoundaries<f64, f64>, gravity: &Vector3<f64>) -> f64 {
        let mut work = 0.0;
        let centers = self.center.chunks_exact_mut(RECORD).enumerate();
        for (_, center) in centers.filter(|(b, _)| !self.held.is_body_prescribed(*b) && !self.joints.pivots(*b)) {
            let before: Vector3<f64> = load(center, 0);
            let returned = wrap(&before, sides).position;
            work -= center[3] * gravity.dot(&returned.minus(&before));
            store(center, 0, &returned);
        }
        work
    }

    /// Whether the center of body b is outside a domain.
    pub fn has_left(&self, b: usize, domain: &Domain) -> bool {
        domain.is_outside_domain(&self.center[b * RECORD..])
    }

    /// Keeps only some bodies; returns the new index of each member.
    pub fn retain(&mut self, stays: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut renamed = vec![FREE; self.body_of.len()];
        let old = std::mem::take(self);
        self.row.push(0);
        for b in (0..old.len()).filter(|&b| stays(b)) {
            let record = b * RECORD..(b + 1) * RECORD;
            self.center.extend(&old.center[record.clone()]);
            self.half_velocity.extend(&old.half_velocity[record.clone()]);
            self.momentum.extend(&old.momentum[record.clone()]);
            self.orientation.extend(&old.orientation[record.clone()]);
            self.moments.extend(&old.moments[record.clone()]);
            self.velocity.extend(&old.velocity[record.clone()]);
            self.spin.extend(&old.spin[record]);
            self.load.extend(old.load.iter().skip(b * LOAD).take(LOAD));
            let higher = old.position_derivatives.iter().skip(b * POSITION_DERIVATIVES);
            self.position_derivatives.extend(higher.take(POSITION_DERIVATIVES));
            let higher = old.orientation_derivatives.iter().skip(b * ORIENTATION_DERIVATIVES);
            self.orientation_derivatives.extend(higher.take(ORIENTATION_DERIVATIVES));
            let members = old.row[b] as usize..old.row[b + 1] as usize;
            let of_members = members.start * RECORD..members.end * RECORD;
            self.offset.extend(&old.offset[of_members.clone()]);
            self.body_forces.keep(&old.body_forces, of_members.clone());
            self.own_orientation.extend(old.own_orientation.get(of_members).unwrap_or_default());
            for name in &mut renamed[members] {
                *name = self.body_of.len() as u32;
                self.body_of.push(self.id.len() as u32);
            }
            self.row.push(self.body_of.len() as u32);
            self.id.push(old.id[b]);
        }
        self.place = vec![FREE; self.body_of.len()];
        (self.are_present, self.ledger) = (old.are_present, old.ledger);
        self.joints = old.joints.kept(&stays);
        self.held = old.held.kept(stays);
        renamed
    }

    /// All bodies at this time.
    pub fn snapshot(&self, fields: &Fields, stepping: &StepParameters<f64, f64>) -> Vec<BodySnapshot> {
        let one = |b: usize| {
            let at = b * RECORD;
            let moving = self.moving(b, fields, stepping);
            let Quaternion { w, x, y, z } = orientation_at(&self.orientation, at);
            BodySnapshot {
                id: self.id[b],
                mass: self.center[at + 3],
                moments: array(&load(&self.moments, at)),
                center: array(&load(&self.center, at)),
                orientation: [w, x, y, z],
                velocity: array(&moving.velocity),
                angular_velocity: array(&moving.spin),
                angular_momentum: array(&moving.momentum),
            }
        };
        (0..self.len()).map(one).collect()
    }

    fn columns(&mut self) -> [&mut Vec<f64>; 8] {
        [
            &mut self.center,
            &mut self.half_velocity,
            &mut self.momentum,
            &mut self.orientation,
            &mut self.moments,
            &mut self.velocity,
            &mut self.spin,
            &mut self.offset,
        ]
    }

    /// Copies all data needed to resume into a checkpoint.
    pub fn save(&mut self, to: &mut dyn Sections) {
        to.put("bodies/id", Column::U32(self.id.clone()));
        to.put("bodies/row", Column::U32(self.row.clone()));
        for (name, column) in COLUMNS.iter().zip(self.columns()) {
            to.put(name, Column::F64(column.clone()));
        }
        if !self.own_orientation.is_empty() {
            to.put(OWN_ORIENTATION, Column::F64(self.own_orientation.clone()));
        }
        for (name, column) in DERIVATIVES.iter().zip([&self.position_derivatives, &self.orientation_derivatives]) {
            if !column.is_empty() {
                to.put(name, Column::F64(column.clone()));
            }
        }
        if !self.held.is_empty() {
            to.put(PRESCRIBED_BODIES, Column::F64(self.held.numbers()));
        }
    }

    /// Reads bodies from a checkpoint with the member indices of its grains; the prescribed motions come from the world.
    ///
    /// # Errors
    /// If a section is missing or does not match the others.
    pub fn load(state: &State, member: &[u32], given: &[Body]) -> Result<Bodies, WorldError> {
        let misfit = || WorldError::State {
            what: "its rigid bodies are not those of the scene, or incomplete".into(),
        };
        let words = |name| match state.get(name) {
            Some(Column::U32(values)) => Ok(values.clone()),
            _ => Err(misfit()),
        };
        let mut bodies = Bodies {
            are_present: true,
            id: words("bodies/id")?,
            row: words("bodies/row")?,
            ..Bodies::default()
        };
        let count = bodies.len();
        let is_ascending = bodies.row.windows(2).all(|pair| pair[0] <= pair[1]);
        if bodies.row.len() != count + 1 || bodies.row[0] != 0 || !is_ascending {
            return Err(misfit());
        }
        let members = bodies.row[count] as usize;
        let lengths = [[count; 7].as_slice(), &[members]].concat();
        for ((name, column), length) in COLUMNS.iter().zip(bodies.columns()).zip(lengths) {
            match state.get(name) {
                Some(Column::F64(values)) if values.len() == length * RECORD => column.clone_from(values),
                _ => return Err(misfit()),
            }
        }
        let optional = |name, length| match state.get(name) {
            None => Ok(Vec::new()),
            Some(Column::F64(values)) if values.len() == length => Ok(values.clone()),
            Some(_) => Err(misfit()),
        };
        bodies.own_orientation = optional(OWN_ORIENTATION, members * RECORD)?;
        bodies.position_derivatives = optional(DERIVATIVES[0], count * POSITION_DERIVATIVES)?;
        bodies.orientation_derivatives = optional(DERIVATIVES[1], count * ORIENTATION_DERIVATIVES)?;
        if bodies.position_derivatives.is_empty() != bodies.orientation_derivatives.is_empty() {
            return Err(misfit());
        }
        for b in 0..count {
            let of_body = bodies.row[b + 1] - bodies.row[b];
            bodies.body_of.extend(std::iter::repeat_n(b as u32, of_body as usize));
        }
        let mut known: Vec<u32> = member.iter().copied().filter(|&m| m != FREE).collect();
        known.sort_unstable();
        if !known.iter().copied().eq(0..members as u32) {
            return Err(misfit());
        }
        bodies.check_axes(given)?;
        bodies.place = vec![FREE; members];
        bodies.find_places(member);
        bodies.held = PrescribedBodies::new(given, &bodies.id);
        bodies.joints = Joints::new(given, &bodies.id);
        Ok(bodies)
    }

    /// Refuses bodies whose grains are elsewhere in their frames than those of the given bodies, as after a change of the axes. Orientations from a
    /// checkpoint belong to its axes, while joints and boundaries follow from the given bodies. Members are in the order of [`Body::carries`].
    fn check_axes(&self, given: &[Body]) -> Result<(), WorldError> {
        let given: HashMap<u32, &Body> = given.iter().map(|body| (body.id, body)).collect();
        let is_other = |b: usize| {
            given.get(&self.id[b]).is_some_and(|body| {
                let members = self.row[b] as usize * RECORD..self.row[b + 1] as usize * RECORD;
                let saved = self.offset[members].chunks_exact(RECORD);
                let coordinates = body.carries.iter().flat_map(|(_, offset)| offset.map(f64::abs));
                let tolerance = SAME_PLACE * coordinates.fold(0.0, f64::max);
                let is_same =
                    |(saved, (_, offset)): (&[f64], &(u32, Vec3))| (0..3).all(|axis| (saved[axis] - offset[axis]).abs() <= tolerance);
                saved.len() != body.carries.len() || !saved.zip(&body.carries).all(is_same)
            })
        };
        let other = (0..self.len()).find(|&b| is_other(b));
        other.map_or(Ok(()), |b| {
            Err(WorldError::State {
                what: format!("rigid body {} had other axes or grains when it was written", self.id[b]),
            })
        })
    }

    /// Memory of the table \[bytes\].
    pub fn bytes(&self) -> u64 {
        let of_members = self.offset.capacity() + self.own_orientation.capacity() + self.body_forces.capacity();
        let of_gear = self.position_derivatives.capacity() + self.orientation_derivatives.capacity();
        let numbers = 7 * self.center.capacity() + self.load.capacity() + self.joints.capacity() + of_members + of_gear;
        let words = self.id.capacity() + self.row.capacity() + self.body_of.capacity() + self.place.capacity();
        (8 * numbers + 4 * words) as u64
    }
}
