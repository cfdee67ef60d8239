//! Rigid bodies that melt: between two steps, fluid comes in their place.
//!
//! It has the mass of the body as far as whole particles can, all of its momentum and of its angular momentum, and a pressure that falls off with height
//! as that of the fluid around does.

use super::Flow;
use crate::contact_records::array;
use crate::events::{Meets, stopped};
use crate::fields::FluidFields;
use crate::refusal::Refusal;
use crate::simulation::{Simulation, vector};
use crate::world::{Solver, Vec3};
use seixo_laws::Vector3;
use seixo_sweeps::bodies::turn_at;
use seixo_sweeps::fluid::WALL;
use seixo_sweeps::views::{RECORD, load, store};
use std::collections::HashSet;

/// A body that is to melt.
#[derive(Clone, Debug, PartialEq)]
pub struct Melting {
    /// Its id: one of a body that fluids feel.
    pub body: u32,
    /// What becomes of it: index into [`crate::world::Fluids::kinds`].
    pub fluid: u32,
    /// Where particles have room, from its center, in the frame of its principal axes \[m\]. Where they have more mass than the body, those farthest
    /// from the center stay empty.
    pub sites: Vec<Vec3>,
}

impl Melting {
    /// How many particles of this mass come in place of a body of that mass \[kg\]: what comes nearest to it, but one at least, and not more than
    /// have room.
    pub fn particles(&self, of_body: f64, of_particle: f64) -> usize {
        let room = self.sites.len().max(1);
        ((of_body / of_particle).round() as usize).clamp(1, room)
    }
}

/// The fluid that comes in place of a body.
struct Melt {
    kind: u32,
    /// \[m\].
    position: Vec<Vector3<f64>>,
    /// \[m/s\].
    velocity: Vec<Vector3<f64>>,
    /// \[Pa\].
    pressure: Vec<f64>,
}

/// The angular velocity \[rad/s\] with which equal masses \[kg\] at these places, turning about their middle \[m\], have an angular momentum
/// \[kg m²/s\]; `None` where they stand in line.
fn turning_with(places: &[Vector3<f64>], middle: &Vector3<f64>, mass: f64, momentum: &Vector3<f64>) -> Option<Vector3<f64>> {
    let mut inertia = [Vector3::<f64>::zero(); 3];
    for place in places {
        let arm = place.minus(middle);
        let square = arm.dot(&arm);
        for (axis, (column, along)) in inertia.iter_mut().zip([arm.x, arm.y, arm.z]).enumerate() {
            let unit = vector([0, 1, 2].map(|k| if k == axis { 1.0 } else { 0.0 }));
            *column = column.plus(&unit.times(square).minus(&arm.times(along)).times(mass));
        }
    }
    let [a, b, c] = inertia;
    let (determinant, trace) = (a.dot(&b.cross(&c)), a.x + b.y + c.z);
    let by_columns = Vector3 {
        x: momentum.dot(&b.cross(&c)),
        y: a.dot(&momentum.cross(&c)),
        z: a.dot(&b.cross(momentum)),
    };
    (determinant > 1e-9 * trace.powi(3)).then(|| by_columns.times(1.0 / determinant))
}

impl Flow {
    /// The pressure at the origin of a fluid that is pulled like this \[N/m³\], were it at rest and like what is before a hull \[Pa\]; `None` where no
    /// fluid is before it.
    fn head_before(&self, hull: usize, pull: &Vector3<f64>) -> Option<f64> {
        let fields = &self.fields;
        let pressure = |i: usize| fields.flow[i * RECORD + 3];
        let sees_fluid = |i: &usize| self.hulls.of_kind(fields.kind[*i]) == Some(hull) && pressure(*i) > 0.0;
        let (mut count, mut sum) = (0, 0.0);
        for i in (0..fields.len()).filter(sees_fluid) {
            count += 1;
            sum += pressure(i) - pull.dot(&self.place(i));
        }
        (count > 0).then(|| sum / f64::from(count))
    }

    /// Takes fluid in for bodies that are gone, and finds forces anew. All fluid goes on with the velocities of this moment.
    fn take_in(&mut self, melts: &[Melt], simulation: &Simulation) {
        self.follow_bodies(simulation);
        for i in self.of_fluid().collect::<Vec<usize>>() {
            let velocity = self.velocity(i);
            store(&mut self.fields.half_velocity, 3 * i, &velocity);
        }
        let mut new = FluidFields::default();
        for melt in melts {
            let fluid = self.plan.kinds[melt.kind as usize].clone();
            for ((place, velocity), &pressure) in melt.position.iter().zip(&melt.velocity).zip(&melt.pressure) {
                let density = fluid.density_at(pressure);
                let volume = self.plan.volume() * fluid.density / density;
                let ([x, y, z], [u, v, w]) = (array(place), array(velocity));
                let id = self.passages.next_id as u32;
                self.passages.next_id += 1;
                self.put(&mut new, [id, melt.kind], [x, y, z, volume], [u, v, w, pressure], [u, v, w]);
                if let Some(excess) = new.excess.last_mut() {
                    *excess = density / fluid.density - 1.0;
                }
            }
        }
        self.count += new.len();
        self.fields.append(&new);
        self.renew_lists(simulation);
        self.find_forces(simulation);
        self.pull_back_half_a_step(|_| true);
    }
}

impl Simulation {
    /// Melts bodies: what they are becomes fluid, with as much mass as whole particles come nearest to, if the sites hold that, and with the same
    /// momentum and, unless its particles stand in line, angular momentum. The ledger books what energy comes or goes by that as put in between two
    /// steps. Bodies that are not there are passed over.
    ///
    /// # Errors
    /// If nothing flows by which bodies could melt, one is named twice, is felt by no fluid, has no sites or one outside of the domain, if no id is left
    /// for particles, and as [`Simulation::observe`].
    pub fn melt(&mut self, melting: &[Melting]) -> Result<(), Refusal> {
        if melting.is_empty() {
            return Ok(());
        }
        self.observe().map_err(stopped)?;
        let there: Vec<&Melting> = melting.iter().filter(|one| self.bodies.id.contains(&one.body)).collect();
        if there.is_empty() {
            return Ok(());
        }
        let melts = self.melts_of(&there)?;
        let ids: HashSet<u32> = there.iter().map(|one| one.body).collect();
        let gained = self.edit(Meets::Nothing, |simulation| {
            let is_of_one = |i: usize| simulation.body_of(i).is_some_and(|b| ids.contains(&simulation.bodies.id[b]));
            let melted: Vec<bool> = (0..simulation.fields.len()).map(is_of_one).collect();
            simulation.keep_grains(|i| !melted[i]);
            simulation.change_forces(|simulation| {
                simulation.with_flow(|flow, simulation| flow.take_in(&melts, simulation));
                simulation.load_bodies_anew();
            });
        })?;
        self.work.inserted += gained;
        Ok(())
    }

    /// The fluid that comes in place of each of these bodies, which are there.
    fn melts_of(&self, melting: &[&Melting]) -> Result<Vec<Melt>, Refusal> {
        let refused = |what: String| Err(Refusal::Fluid(what));
        let Some(flow) = &self.flow else {
            return refused("bodies are to melt where nothing flows; add a fluid".to_owned());
        };
        if flow.plan.solver != Solver::WeaklyCompressible {
            return refused("bodies are to melt, which they do into fluids of solver = \"wcsph\" alone; use that".to_owned());
        }
        let mut melts = Vec::new();
        for (k, one) in melting.iter().enumerate() {
            let id = one.body;
            if melting[..k].iter().any(|other| other.body == id) {
                return refused(format!("body {id} is to melt twice; name it once"));
            }
            let Some(hull) = flow.hulls.of_body(id) else {
                return refused(format!("body {id} is to melt, but no fluid feels it; let it displace fluids"));
            };
            if one.fluid as usize >= flow.plan.kinds.len() || one.sites.is_empty() {
                return refused(format!(
                    "body {id} is to melt into fluid number {} at {} sites; it needs a fluid that is there, and at least one site",
                    one.fluid,
                    one.sites.len()
                ));
            }
            let melt = self.melt_of(flow, one, hull);
            let is_outside = |place: &Vector3<f64>| self.has_left(&array(place));
            if melt.position.iter().any(is_outside) {
                return refused(format!(
                    "body {id} is to melt while a part of it is outside of the domain; enlarge world.domain, or let it melt elsewhere"
                ));
            }
            melts.push(melt);
        }
        let coming: usize = melts.iter().map(|melt| melt.position.len()).sum();
        if flow.passages.next_id + coming as u64 > u64::from(WALL) {
            return refused("more than 2^31 particles of fluids would have come: no id is left for what melts".to_owned());
        }
        Ok(melts)
    }

    /// The fluid that comes in place of a body with this hull.
    fn melt_of(&self, flow: &Flow, melting: &Melting, hull: usize) -> Melt {
        let b = self.bodies.id.iter().position(|id| *id == melting.body).unwrap_or_default();
        let (at, fluid) = (b * RECORD, &flow.plan.kinds[melting.fluid as usize]);
        let (of_body, of_particle) = (self.bodies.center[at + 3], fluid.density * flow.plan.volume());
        let moving = self.bodies.moving(b, &self.fields, &self.stepping);
        let turn = turn_at(&self.bodies.turn, at);
        let center: Vector3<f64> = load(&self.bodies.center, at);

        let square = |site: &Vec3| site.iter().map(|x| x * x).sum::<f64>();
        let mut sites = melting.sites.clone();
        sites.sort_by(|a, b| square(a).total_cmp(&square(b)));
        sites.truncate(melting.particles(of_body, of_particle));
        let arms: Vec<Vector3<f64>> = sites.iter().map(|site| turn.turned(&vector(*site))).collect();

        let count = arms.len() as f64;
        let sum = arms.iter().fold(Vector3::<f64>::zero(), |sum, arm| sum.plus(arm));
        let middle = sum.times(1.0 / count);
        let momentum = moving.velocity.times(of_body);
        let velocity = momentum.times(1.0 / (count * of_particle));
        let turning = moving.momentum.minus(&middle.cross(&momentum));
        let spin = turning_with(&arms, &middle, of_particle, &turning).unwrap_or(moving.spin);

        let pull = self.stepping.gravity.times(fluid.density);
        let head = flow.head_before(hull, &pull);
        let position: Vec<Vector3<f64>> = arms.iter().map(|arm| center.plus(arm)).collect();
        let pressure = |place: &Vector3<f64>| head.map_or(fluid.background_pressure, |head| (head + pull.dot(place)).max(0.0));
        Melt {
            kind: melting.fluid,
            velocity: arms.iter().map(|arm| velocity.plus(&spin.cross(&arm.minus(&middle)))).collect(),
            pressure: position.iter().map(pressure).collect(),
            position,
        }
    }
}
