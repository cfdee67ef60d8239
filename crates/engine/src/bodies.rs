//! The table of rigid bodies, and the grains that they carry.

use crate::contact_records::array;
use crate::division::Pushes;
use crate::fields::Fields;
use crate::held::HeldBodies;
use crate::joints::{Joints, start_of};
use crate::measure::Work;
use crate::refusal::Refusal;
use crate::simulation::vector;
use crate::state::{Column, Sections, State};
use crate::world::{Body, Domain, Grains, Vec3};
use seixo_laws::motion::velocity_ahead;
use seixo_laws::rotation::{angular_momentum, angular_velocity, energy_of_rotation};
use seixo_laws::{Quaternion, Vector3};
use seixo_sweeps::bodies::{FREE, LOAD, Push, push_on, turn_at, turning_of, with_load};
use seixo_sweeps::joints::{center_on, spin_on, velocity_on, yielded};
use seixo_sweeps::motion::{Stepping, acceleration};
use seixo_sweeps::sides::{Sides, put_back};
use seixo_sweeps::views::{RECORD, load, store};
use std::borrow::Cow;
use std::collections::HashMap;

/// A body as it stands.
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
    /// Unit quaternion w x y z that turns the frame of its principal axes into that of space.
    pub orientation: [f64; 4],
    /// Velocity of the center of mass \[m/s\].
    pub velocity: [f64; 3],
    /// Angular velocity \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// Angular momentum about the center of mass \[kg m²/s\].
    pub angular_momentum: [f64; 3],
}

impl BodySnapshot {
    /// A direction of its frame, in space.
    pub fn turned(&self, direction: Vec3) -> Vec3 {
        array(&turn_at(&self.orientation, 0).turned(&vector(direction)))
    }

    /// Where a point of its frame is in space \[m\].
    pub fn place(&self, offset: Vec3) -> Vec3 {
        let arm = self.turned(offset);
        [0, 1, 2].map(|axis| self.center[axis] + arm[axis])
    }
}

/// How a body moves at the whole step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving {
    /// \[m/s\].
    pub velocity: Vector3<f64>,
    /// About the center of mass \[kg m²/s\].
    pub momentum: Vector3<f64>,
    /// \[rad/s\].
    pub spin: Vector3<f64>,
    /// The angular momentum that is kept of it: on a joint, about the pivot \[kg m²/s\].
    pub kept: Vector3<f64>,
}

/// All bodies, a record of four numbers each in every column.
#[derive(Clone, Default)]
pub(crate) struct Bodies {
    pub id: Vec<u32>,
    /// First member of every body, and one more.
    pub row: Vec<u32>,
    /// Center of mass \[m\], mass \[kg\].
    pub center: Vec<f64>,
    /// Velocity that is kept, at half steps \[m/s\].
    pub half_velocity: Vec<f64>,
    /// Angular momentum that is kept, in space, about the center of mass or, of a body on a joint, about the pivot \[kg m²/s\].
    pub momentum: Vec<f64>,
    /// Orientation w x y z.
    pub turn: Vec<f64>,
    /// Principal moments of inertia \[kg m²\].
    pub moments: Vec<f64>,
    /// Velocity that laws read \[m/s\].
    pub velocity: Vec<f64>,
    /// Angular velocity that laws read \[rad/s\].
    pub spin: Vec<f64>,
    /// Of every member: where it is in the frame of its body \[m\], and its share of the body's mass as readers see it \[-\].
    pub offset: Vec<f64>,
    /// Of every member: how its grain is turned in the frame of its body, w x y z; empty where all stand as their bodies do.
    pub own_turn: Vec<f64>,
    /// Of every member: its body, and the place of its grain or, in a domain, of what pushes on that.
    pub body_of: Vec<u32>,
    pub place: Vec<u32>,
    /// What pushes on all members, where some of their grains are in other domains.
    pub pushes: Pushes,
    /// What a domain booked of bodies since somebody looked; all domains book the same.
    pub booked: Work,
    /// What fluids do to bodies, see [`LOAD`]; empty where they feel none.
    pub load: Vec<f64>,
    /// Those that move as they are told. How is not in checkpoints: the world, or what changed it, has it.
    pub held: HeldBodies,
    /// Those that are on joints; the world has them, too.
    pub joints: Joints,
    /// What local damping took of bodies on a GPU since they were handed over \[J\].
    pub damped: f64,
    /// Power that what holds bodies puts in, when a GPU was last looked at \[W\].
    pub power_of_holding: f64,
    /// Sum of these powers at all steps since bodies were handed over to a GPU \[W\].
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

/// Section of [`Bodies::own_turn`], if it is not empty.
const OWN_TURN: &str = "bodies/own_turn";

/// Section of what [`HeldBodies::numbers`] tells, if any body is held.
pub(crate) const HELD_BODIES: &str = "bodies/held";

impl Bodies {
    /// The bodies of a table of grains, and the member that each of these grains is, by id.
    pub fn new(grains: &Grains) -> (Bodies, HashMap<u32, u32>) {
        let radii: HashMap<u32, f64> = grains.id.iter().copied().zip(grains.radius.iter().copied()).collect();
        let mut bodies = Bodies {
            row: vec![0],
            id: grains.bodies.iter().map(|body| body.id).collect(),
            ..Bodies::default()
        };
        bodies.joints = Joints::new(&grains.bodies, &bodies.id);
        let mut members = HashMap::new();
        for (b, body) in grains.bodies.iter().enumerate() {
            let (turn, moments) = (body.turn(), vector(body.moments));
            let [velocity, spin] = start_of(body);
            let (center, momentum) = match bodies.joints.of(b) {
                Some(joint) => (
                    center_on(&joint, &turn, &vector(body.center)),
                    angular_momentum(&turn.after(&joint.frame), &spin, &joint.moments),
                ),
                None => (vector(body.center), angular_momentum(&turn, &spin, &moments)),
            };
            bodies.center.extend([center.x, center.y, center.z, body.mass]);
            bodies.half_velocity.extend([velocity.x, velocity.y, velocity.z, 0.0]);
            bodies.velocity.extend([velocity.x, velocity.y, velocity.z, 0.0]);
            bodies.spin.extend([spin.x, spin.y, spin.z, 0.0]);
            bodies.momentum.extend([momentum.x, momentum.y, momentum.z, 0.0]);
            bodies.turn.extend([turn.w, turn.x, turn.y, turn.z]);
            bodies.moments.extend([moments.x, moments.y, moments.z, 0.0]);
            let cubes: f64 = body.carries.iter().map(|(id, _)| radii[id].powi(3)).sum();
            for (id, offset) in &body.carries {
                members.insert(*id, bodies.body_of.len() as u32);
                bodies.offset.extend([offset[0], offset[1], offset[2], radii[id].powi(3) / cubes]);
                bodies.body_of.push(b as u32);
            }
            bodies.row.push(bodies.body_of.len() as u32);
        }
        bodies.place = vec![FREE; bodies.body_of.len()];
        bodies.held = HeldBodies::new(&grains.bodies, &bodies.id);
        (bodies, members)
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Notes where the grains of all members are or, in a domain, what pushes on them.
    pub fn find_places(&mut self, member: &[u32]) {
        if self.pushes.are_gathered() {
            self.place = (0..self.body_of.len() as u32).collect();
            return;
        }
        for (i, &m) in member.iter().enumerate().filter(|(_, m)| **m != FREE) {
            self.place[m as usize] = i as u32;
        }
    }

    /// Those that are held and do not stand still for good.
    pub fn held_moving(&self) -> Vec<u32> {
        self.held.iter(false).map(|(b, _)| b as u32).collect()
    }

    /// The body of a member, if it is one.
    pub fn of(&self, member: u32) -> Option<usize> {
        self.body_of.get(member as usize).map(|&b| b as usize)
    }

    /// Whether body b is held or on a joint, so that a velocity cannot be given to it.
    pub fn is_bound(&self, b: usize) -> bool {
        self.held.holds(b) || self.joints.bears(b)
    }

    /// The body that each member is of as far as touching goes: all that are held count as one. Where two of them meet, no force moves anything,
    /// and what a dashpot would do there follows from no mass.
    pub fn that_touch(&self) -> Cow<'_, [u32]> {
        let Some(first) = (0..self.len()).find(|&b| self.held.holds(b)) else {
            return Cow::Borrowed(&self.body_of);
        };
        let touching = |&b: &u32| if self.held.holds(b as usize) { first as u32 } else { b };
        Cow::Owned(self.body_of.iter().map(touching).collect())
    }

    /// Where a member is from the center of its body \[m\].
    pub fn arm(&self, member: u32) -> Vector3<f64> {
        let b = self.body_of[member as usize] as usize;
        turn_at(&self.turn, b * RECORD).turned(&load(&self.offset, member as usize * RECORD))
    }

    /// Orientation of the grain that is this member of body b.
    pub fn turn_of(&self, member: u32, b: usize) -> Quaternion<f64> {
        let turn = turn_at(&self.turn, b * RECORD);
        if self.own_turn.is_empty() {
            return turn;
        }
        turn.after(&turn_at(&self.own_turn, member as usize * RECORD))
    }

    /// What these forces of its grains, and fluids, do to body b.
    pub fn push(&self, b: usize, fields: &Fields) -> Push<f64> {
        let (first, end) = (self.row[b] as usize, self.row[b + 1] as usize);
        let turn = turn_at(&self.turn, b * RECORD);
        let [force, torque] = self.pushes.or_of(fields);
        let push = push_on::<f64, f64>(first, end, &self.place, &self.offset, &turn, force, torque, true);
        if self.load.is_empty() {
            return push;
        }
        with_load(&push, b, &self.load)
    }

    /// How fast velocity \[m/s²\] and angular momentum \[N m\] that are kept of body b change under these forces of its grains.
    pub fn rates(&self, b: usize, fields: &Fields, stepping: &Stepping<f64, f64>) -> [Vector3<f64>; 2] {
        let (at, push) = (b * RECORD, self.push(b, fields));
        let (velocity, spin, mass) = (load(&self.velocity, at), load(&self.spin, at), self.center[at + 3]);
        if let Some(joint) = self.joints.of(b) {
            let yields = yielded(&push, &joint, &turn_at(&self.turn, at), &velocity, &spin, mass, stepping);
            return [yields.sliding.rate, yields.turning.rate];
        }
        let linear = acceleration(&velocity, mass, &push.force, stepping);
        let turning = turning_of(&spin, &push.torque, stepping.local_damping);
        [linear.rate, turning.rate]
    }

    /// How body b moves at the whole step, under these forces of its grains.
    pub fn moving(&self, b: usize, fields: &Fields, stepping: &Stepping<f64, f64>) -> Moving {
        let at = b * RECORD;
        if self.held.holds(b) {
            let momentum = load(&self.momentum, at);
            return Moving {
                velocity: load(&self.velocity, at),
                momentum,
                spin: load(&self.spin, at),
                kept: momentum,
            };
        }
        let [linear, turning] = self.rates(b, fields, stepping);
        let velocity = velocity_ahead(&load(&self.half_velocity, at), &linear, stepping.shows_ahead);
        let kept = velocity_ahead(&load(&self.momentum, at), &turning, stepping.shows_ahead);
        let (turn, moments) = (turn_at(&self.turn, at), load(&self.moments, at));
        match self.joints.of(b) {
            Some(joint) => {
                let spin = spin_on(&joint, &turn, &kept);
                Moving {
                    velocity: velocity_on(&joint, &turn, &spin, &velocity),
                    momentum: angular_momentum(&turn, &spin, &moments),
                    spin,
                    kept,
                }
            }
            None => Moving {
                velocity,
                momentum: kept,
                spin: angular_velocity(&turn, &kept, &moments),
                kept,
            },
        }
    }

    /// How all bodies move at the whole step.
    pub fn all_moving(&self, fields: &Fields, stepping: &Stepping<f64, f64>) -> Vec<Moving> {
        (0..self.len()).map(|b| self.moving(b, fields, stepping)).collect()
    }

    /// Lets body b, unless it is held, go on from this motion at the whole step, under these forces of its grains.
    pub fn go_on_from(&mut self, b: usize, moving: &Moving, fields: &Fields, stepping: &Stepping<f64, f64>) {
        if !self.held.holds(b) {
            store(&mut self.half_velocity, b * RECORD, &moving.velocity);
            store(&mut self.momentum, b * RECORD, &moving.kept);
            self.pull_back(b, fields, stepping);
        }
    }

    /// Rotational energy of body b with this angular momentum \[J\].
    pub fn rotational(&self, b: usize, momentum: &Vector3<f64>) -> f64 {
        energy_of_rotation(&turn_at(&self.turn, b * RECORD), momentum, &load(&self.moments, b * RECORD))
    }

    /// How bodies on joints move at the whole step, by their places in the table.
    pub fn moving_on_joints(&self, fields: &Fields, stepping: &Stepping<f64, f64>) -> Vec<(usize, Moving)> {
        let on_joints = (0..self.len()).filter(|&b| self.joints.bears(b));
        on_joints.map(|b| (b, self.moving(b, fields, stepping))).collect()
    }

    /// Velocities that are kept at half steps start half a step back, unless the body is held.
    pub fn pull_back(&mut self, b: usize, fields: &Fields, stepping: &Stepping<f64, f64>) {
        if self.held.holds(b) {
            return;
        }
        let (at, ahead) = (b * RECORD, stepping.shows_ahead);
        let [linear, turning] = self.rates(b, fields, stepping);
        let kept: Vector3<f64> = load(&self.half_velocity, at);
        store(&mut self.half_velocity, at, &kept.minus(&linear.times(ahead)));
        let kept: Vector3<f64> = load(&self.momentum, at);
        store(&mut self.momentum, at, &kept.minus(&turning.times(ahead)));
    }

    /// Puts centers that left through periodic sides back; returns Σ m g·Δx of all \[J\], which the sides did. Those of bodies that are held
    /// are never outside, and those of bodies on pivots stay with them.
    pub fn put_back(&mut self, sides: &Sides<f64, f64>, gravity: &Vector3<f64>) -> f64 {
        let mut work = 0.0;
        let centers = self.center.chunks_exact_mut(RECORD).enumerate();
        for (_, center) in centers.filter(|(b, _)| !self.held.holds(*b) && !self.joints.pivots(*b)) {
            let before: Vector3<f64> = load(center, 0);
            let returned = put_back(&before, sides).position;
            work -= center[3] * gravity.dot(&returned.minus(&before));
            store(center, 0, &returned);
        }
        work
    }

    /// Whether the center of body b is outside of a domain.
    pub fn has_left(&self, b: usize, domain: &Domain) -> bool {
        domain.has_lost(&self.center[b * RECORD..])
    }

    /// Keeps only some bodies; tells what each member is called from now on.
    pub fn retain(&mut self, stays: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut renamed = vec![FREE; self.body_of.len()];
        let old = std::mem::take(self);
        self.row.push(0);
        for b in (0..old.len()).filter(|&b| stays(b)) {
            let record = b * RECORD..(b + 1) * RECORD;
            self.center.extend(&old.center[record.clone()]);
            self.half_velocity.extend(&old.half_velocity[record.clone()]);
            self.momentum.extend(&old.momentum[record.clone()]);
            self.turn.extend(&old.turn[record.clone()]);
            self.moments.extend(&old.moments[record.clone()]);
            self.velocity.extend(&old.velocity[record.clone()]);
            self.spin.extend(&old.spin[record]);
            self.load.extend(old.load.iter().skip(b * LOAD).take(LOAD));
            let members = old.row[b] as usize..old.row[b + 1] as usize;
            let of_members = members.start * RECORD..members.end * RECORD;
            self.offset.extend(&old.offset[of_members.clone()]);
            self.pushes.keep(&old.pushes, of_members.clone());
            self.own_turn.extend(old.own_turn.get(of_members).unwrap_or_default());
            for name in &mut renamed[members] {
                *name = self.body_of.len() as u32;
                self.body_of.push(self.id.len() as u32);
            }
            self.row.push(self.body_of.len() as u32);
            self.id.push(old.id[b]);
        }
        self.place = vec![FREE; self.body_of.len()];
        self.booked = old.booked;
        self.joints = old.joints.kept(&stays);
        self.held = old.held.kept(stays);
        renamed
    }

    /// Bodies as they stand.
    pub fn snapshot(&self, fields: &Fields, stepping: &Stepping<f64, f64>) -> Vec<BodySnapshot> {
        let one = |b: usize| {
            let at = b * RECORD;
            let moving = self.moving(b, fields, stepping);
            let Quaternion { w, x, y, z } = turn_at(&self.turn, at);
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
            &mut self.turn,
            &mut self.moments,
            &mut self.velocity,
            &mut self.spin,
            &mut self.offset,
        ]
    }

    /// Copies all that a continuation depends on into a checkpoint.
    pub fn save(&mut self, to: &mut dyn Sections) {
        to.put("bodies/id", Column::U32(self.id.clone()));
        to.put("bodies/row", Column::U32(self.row.clone()));
        for (name, column) in COLUMNS.iter().zip(self.columns()) {
            to.put(name, Column::F64(column.clone()));
        }
        if !self.own_turn.is_empty() {
            to.put(OWN_TURN, Column::F64(self.own_turn.clone()));
        }
        if !self.held.is_empty() {
            to.put(HELD_BODIES, Column::F64(self.held.numbers()));
        }
    }

    /// Reads bodies from a checkpoint whose grains say which members they are, with what the world says of how they are held.
    ///
    /// # Errors
    /// If a section is missing or does not fit the others.
    pub fn load(state: &State, member: &[u32], given: &[Body]) -> Result<Bodies, Refusal> {
        let misfit = || Refusal::State {
            what: "its rigid bodies are not those of the scene, or incomplete".into(),
        };
        let words = |name| match state.get(name) {
            Some(Column::U32(values)) => Ok(values.clone()),
            _ => Err(misfit()),
        };
        let mut bodies = Bodies {
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
        bodies.own_turn = match state.get(OWN_TURN) {
            None => Vec::new(),
            Some(Column::F64(values)) if values.len() == members * RECORD => values.clone(),
            Some(_) => return Err(misfit()),
        };
        for b in 0..count {
            let of_body = bodies.row[b + 1] - bodies.row[b];
            bodies.body_of.extend(std::iter::repeat_n(b as u32, of_body as usize));
        }
        let mut known: Vec<u32> = member.iter().copied().filter(|&m| m != FREE).collect();
        known.sort_unstable();
        if !known.iter().copied().eq(0..members as u32) {
            return Err(misfit());
        }
        bodies.place = vec![FREE; members];
        bodies.find_places(member);
        bodies.held = HeldBodies::new(given, &bodies.id);
        bodies.joints = Joints::new(given, &bodies.id);
        Ok(bodies)
    }

    /// Bytes that the table holds.
    pub fn bytes(&self) -> u64 {
        let of_members = self.offset.capacity() + self.own_turn.capacity() + self.pushes.capacity();
        let numbers = 7 * self.center.capacity() + self.load.capacity() + self.joints.capacity() + of_members;
        let words = self.id.capacity() + self.row.capacity() + self.body_of.capacity() + self.place.capacity();
        (8 * numbers + 4 * words) as u64
    }
}
