//! What pictures need of particles, taken in a moment: neither sorted, nor summed up, nor waited for.

use crate::fields::{PART, parts};
use crate::flow::Flow;
use crate::guard::Stop;
use crate::simulation::{Simulation, vector};
use crate::state::WallSnapshot;
use crate::world::Vec3;
use seixo_device::Strided;
use seixo_device::gpu::{GpuError, Lent};
use seixo_sweeps::views::{RECORD, load};

/// The number by which particles are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shade {
    /// Radius \[m\].
    Radius,
    /// Speed \[m/s\].
    Speed,
    /// A component of the velocity \[m/s\]: 0, 1 or 2.
    Velocity(usize),
}

impl Shade {
    /// As kernels count them.
    pub(crate) fn number(self) -> u32 {
        match self {
            Shade::Radius => 0,
            Shade::Speed => 1,
            Shade::Velocity(axis) => 2 + axis as u32,
        }
    }

    fn of(self, radius: f64, [x, y, z]: [f64; 3]) -> f64 {
        match self {
            Shade::Radius => radius,
            Shade::Speed => (x * x + y * y + z * z).sqrt(),
            Shade::Velocity(axis) => [x, y, z][axis],
        }
    }
}

/// Particles at a moment, grains first, then those of fluids, else in no particular order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Glance {
    /// Ids.
    pub id: Vec<u32>,
    /// Centers from the origin that was asked for, and radii \[m\].
    pub places: Vec<[f32; 4]>,
    /// The number that was asked for.
    pub values: Vec<f32>,
    /// How many are grains.
    pub grains: usize,
}

/// A glance that may still be on its way from a GPU, which goes on meanwhile.
pub struct Glancing(Box<dyn OnItsWay>);

/// Particles that lie in memory of a GPU which is reached through wgpu.
pub struct Aboard {
    /// Centers from the origin that was asked for, and radii \[m\], as four numbers of 32 bits; a radius of 0 where nothing is to be seen.
    pub places: Lent,
    /// The number that was asked for, of 32 bits.
    pub values: Lent,
    /// How many there are.
    pub count: usize,
    /// Whether they are particles of fluids.
    pub is_fluid: bool,
    /// What is known of them here.
    pub survey: Survey,
}

/// What is known of particles that lie elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Some of them, from all over: places with radii as those of all \[m\], and the number that was asked for.
    pub some: Vec<([f32; 4], f32)>,
    /// Lowest and highest of the four numbers of places, of those that are somewhere and are to be seen \[m\].
    pub corners: [[f32; 4]; 2],
    /// How many are.
    pub seen: usize,
    /// Their mean radius \[m\].
    pub mean_radius: f64,
}

/// What a glance is before it is here.
pub(crate) trait OnItsWay: Send {
    /// Waits for it.
    fn wait(self: Box<Self>) -> Result<Glance, GpuError>;
    /// Where it lies; `None` where nobody can draw from. Once.
    fn lend(&mut self) -> Result<Option<Vec<Aboard>>, GpuError>;
}

impl OnItsWay for Glance {
    fn wait(self: Box<Self>) -> Result<Glance, GpuError> {
        Ok(*self)
    }

    fn lend(&mut self) -> Result<Option<Vec<Aboard>>, GpuError> {
        Ok(self.id.is_empty().then(Vec::new))
    }
}

/// Grains, and behind them fluids.
impl OnItsWay for [Glancing; 2] {
    fn wait(self: Box<Self>) -> Result<Glance, GpuError> {
        let [grains, fluids] = *self;
        let (mut glance, fluids) = (grains.0.wait()?, fluids.0.wait()?);
        glance.id.extend(fluids.id);
        glance.places.extend(fluids.places);
        glance.values.extend(fluids.values);
        Ok(glance)
    }

    fn lend(&mut self) -> Result<Option<Vec<Aboard>>, GpuError> {
        let [grains, fluids] = self;
        let (grains, fluids) = (grains.0.lend()?, fluids.0.lend()?);
        Ok(grains
            .zip(fluids)
            .map(|(grains, fluids)| grains.into_iter().chain(fluids).collect()))
    }
}

impl Glancing {
    /// One that comes from somewhere.
    pub(crate) fn of(coming: impl OnItsWay + 'static) -> Glancing {
        Glancing(Box::new(coming))
    }

    /// Waits for it.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn wait(self) -> Result<Glance, String> {
        self.0.wait().map_err(|error| error.to_string())
    }

    /// Where it lies, for pictures that are drawn on the same device; `None` where it lies elsewhere, has more digits than pictures, or was lent before.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn lend(&mut self) -> Result<Option<Vec<Aboard>>, String> {
        self.0.lend().map_err(|error| error.to_string())
    }
}

impl Simulation {
    /// Takes a glance at all particles, with velocities of grains as the laws saw them in this step, half a step's forces behind, and with places from this
    /// origin \[m\]; `None` where that takes as long as to look closely: among domains, and on a GPU at walls with servos.
    ///
    /// # Errors
    /// If the GPU fails.
    pub fn glance(&mut self, origin: Vec3, shade: Shade) -> Result<Option<Glancing>, Stop> {
        // Where a wall with a servo is, a GPU knows until somebody looks.
        let has_servos = self.walls.servos.iter().any(|&number| number != 0.0);
        if self.division.is_some() || (self.gpu.is_some() && has_servos) {
            return Ok(None);
        }
        let grains = if self.is_remote() {
            self.with_remote(|remote, _| Ok(remote.glance(origin, shade)))?
        } else {
            Glancing::of(self.glance_at_grains(origin, shade))
        };
        let fluids = if self.flows_remotely() {
            self.with_remote_flow(|remote, flow, _| Ok(Some(remote.glance(flow, origin, shade))))?
        } else {
            self.flow.as_ref().map(|flow| Glancing::of(flow.glance(origin, shade)))
        };
        Ok(Some(match fluids {
            Some(fluids) => Glancing::of([grains, fluids]),
            None => grains,
        }))
    }

    /// The walls where they are now, without what bears on them and what is worn of them.
    pub fn walls_now(&self) -> Vec<WallSnapshot> {
        let given = self.walls.given.iter().enumerate();
        let shown = given.map(|(index, wall)| {
            let (triangles, plane) = self.walls.surface(index);
            let (position, angle) = self.walls.whereabouts(index, self.time());
            WallSnapshot {
                name: wall.name.clone(),
                triangles,
                plane,
                position,
                angle,
                ..WallSnapshot::default()
            }
        });
        shown.collect()
    }

    fn glance_at_grains(&self, origin: Vec3, shade: Shade) -> Glance {
        let (fields, origin) = (&self.fields, vector(origin));
        let grains = fields.len();
        let mut glance = Glance {
            id: fields.id.clone(),
            places: vec![[0.0; 4]; grains],
            values: vec![0.0; grains],
            grains,
        };
        let data = (
            Strided {
                items: &mut glance.places,
                per_part: PART,
            },
            Strided {
                items: &mut glance.values,
                per_part: PART,
            },
        );
        let see = |part: usize, (places, values): (Strided<[f32; 4]>, Strided<f32>)| {
            for (k, (place, value)) in places.items.iter_mut().zip(values.items).enumerate() {
                let at = (part * PART + k) * RECORD;
                let from = load(&fields.position, at).minus(&origin);
                let radius = fields.position[at + 3];
                let v = &fields.velocity[at..at + 3];
                *place = [from.x, from.y, from.z, radius].map(|number| number as f32);
                *value = shade.of(radius, [v[0], v[1], v[2]]) as f32;
            }
        };
        self.device.run(parts(grains), data, see);
        glance
    }
}

impl Flow {
    /// Radius with which pictures show particles of fluids \[m\].
    pub(crate) fn shown_radius(&self) -> f64 {
        0.5 * self.plan.spacing
    }

    fn glance(&self, origin: Vec3, shade: Shade) -> Glance {
        let (mut glance, origin, radius) = (Glance::default(), vector(origin), self.shown_radius());
        for i in self.of_fluid() {
            let (from, v) = (self.place(i).minus(&origin), self.velocity(i));
            glance.id.push(self.fields.id[i]);
            glance.places.push([from.x, from.y, from.z, radius].map(|number| number as f32));
            glance.values.push(shade.of(radius, [v.x, v.y, v.z]) as f32);
        }
        glance
    }
}
