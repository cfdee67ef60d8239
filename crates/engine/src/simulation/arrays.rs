//! Arrays of particles where the engine keeps them, without a copy.

use crate::backend::Observed;
use crate::fields::{Fields, FluidFields};
use crate::local_domain::LocalDomain;
use crate::simulation::Simulation;
use crate::state::arrays::{
    ANGULAR_VELOCITY, ArrayMemory, Arrays, ArraysError, DENSITY_ERROR, FLUID_POSITION, FLUID_VELOCITY, FORCE, GROUP,
    HALF_STEP_ANGULAR_VELOCITY, HALF_STEP_VELOCITY, ID, KIND, MATERIAL, ORIENTATION, POSITION, ParticleArray, RecordPart, TORQUE, VELOCITY,
};
use seixo_sweeps::layout::RECORD;

impl Simulation {
    /// The arrays of all particles where the engine keeps them: in the memory of this process, or in that of a GPU that is reached through CUDA.
    /// Nothing is copied, and all that was queued on the GPU is done. There, forces are those of the step before until [`Simulation::observe`], see
    /// [`ParticleArray::is_present`].
    ///
    /// Particles are in the order of the cells, which changes; "id" says which is which. On a GPU the numbers have the type of its precision. In
    /// `mixed`, grains keep velocities at half steps in two parts there, so these two arrays are copies of the sums.
    ///
    /// | array | content |
    /// |---|---|
    /// | id, material, group | integers of 32 bits |
    /// | position, radius | center and radius \[m\] |
    /// | velocity, angular_velocity | as laws read them at this time: without the change of the force in the last half step \[m/s, rad/s\] |
    /// | half_step_velocity, half_step_angular_velocity | those that the integrator keeps: half a step earlier with leapfrog \[m/s, rad/s\] |
    /// | mass | mass \[kg\]; for grains of rigid bodies the inertia that contact laws read |
    /// | force, torque | of contacts, bonds and loads, without gravity and the force of fluids on bodies \[N, N m\] |
    /// | coordination | number of contacts |
    /// | orientation | unit quaternion w x y z; of polyhedral grains that of their principal axes |
    ///
    /// Grains without friction have no angular velocity and no torque, and only grains with bonds, Gear's method or polyhedra among them have an
    /// orientation. Temperatures and film thicknesses, where grains have them, are arrays in the memory of this process only. Fluids, with their wall
    /// and body boundary particles, have id, kind, position, volume \[m³\], velocity, half_step_velocity, pressure \[Pa\] and density_error (ρ −
    /// ρ₀)/ρ₀. A kind below 2³¹ is that of a fluid particle; other particles keep other values in these arrays.
    ///
    /// ```
    /// use seixo_engine::Simulation;
    /// use seixo_engine::state::ArrayMemory;
    /// use seixo_engine::world::{Interaction, Material, Settings, World};
    ///
    /// let glass = Material { name: "glass".into(), density: 2500.0, youngs_modulus: 1e7, poisson_ratio: 0.2 };
    /// let mut world = World {
    ///     materials: vec![glass],
    ///     interactions: vec![Some(Interaction::default())],
    ///     groups: vec!["balls".into()],
    ///     ..World::default()
    /// };
    /// world.grains.push(7, [1.0, 2.0, 3.0], [0.0; 3], [0.0; 3], 1e-3, 0, 0);
    /// let simulation = Simulation::new(world, Settings::default())?;
    /// let arrays = simulation.arrays()?;
    /// let radius = arrays.grains.iter().find(|array| array.name == "radius").unwrap();
    /// let ArrayMemory::F64(numbers) = radius.memory else { panic!("on the CPU") };
    /// assert_eq!(numbers[radius.first], 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the simulation is decomposed, the API of the GPU shows no addresses, the GPU takes the next steps already, or it fails.
    pub fn arrays(&self) -> Result<Arrays<'_>, ArraysError> {
        let LocalDomain { populations, backend } = &self.whole;
        if self.subdomains.is_some() {
            let domains = populations.context.settings.domains;
            return Err(ArraysError::Decomposed { domains });
        }
        if backend.is_batch_queued {
            return Err(ArraysError::StepsQueued);
        }
        let grains = match &backend.grains {
            Some(remote) => remote.arrays()?,
            None => arrays_of_grains(&populations.grains.fields),
        };
        let fluid = match (&populations.flow, &backend.fluids) {
            (Some(_), Some(remote)) => Some(remote.arrays()?),
            (Some(flow), None) => Some(arrays_of_fluid(&flow.fields)),
            (None, _) => None,
        };
        let mut arrays = Arrays { grains, fluid };
        if backend.observed == Some(Observed::Everything) {
            let all = arrays.grains.iter_mut().chain(arrays.fluid.iter_mut().flatten());
            all.for_each(|array| array.is_present = true);
        }
        Ok(arrays)
    }
}

/// Arrays in the memory of this process.
struct HostArrays<'a> {
    len: usize,
    arrays: Vec<ParticleArray<'a>>,
}

impl<'a> HostArrays<'a> {
    fn integers(&mut self, integers: &'a [u32], parts: &'static [RecordPart]) {
        let arrays = ParticleArray::of_records(ArrayMemory::U32(integers), self.len, 1, parts);
        self.arrays.extend(arrays);
    }

    /// Adds records, unless these particles have none.
    fn records(&mut self, numbers: &'a [f64], stride: usize, parts: &'static [RecordPart]) {
        if numbers.len() == self.len * stride {
            let arrays = ParticleArray::of_records(ArrayMemory::F64(numbers), self.len, stride, parts);
            self.arrays.extend(arrays);
        }
    }
}

fn arrays_of_grains(fields: &Fields) -> Vec<ParticleArray<'_>> {
    let mut host = HostArrays {
        len: fields.len(),
        arrays: Vec::new(),
    };
    host.integers(&fields.id, ID);
    host.integers(&fields.material, MATERIAL);
    host.integers(&fields.group, GROUP);
    host.records(&fields.position, RECORD, POSITION);
    host.records(&fields.velocity, RECORD, VELOCITY);
    host.records(&fields.half_velocity, 3, HALF_STEP_VELOCITY);
    host.records(&fields.force, RECORD, FORCE);
    host.records(&fields.spin, RECORD, ANGULAR_VELOCITY);
    host.records(&fields.half_spin, 3, HALF_STEP_ANGULAR_VELOCITY);
    host.records(&fields.torque, RECORD, TORQUE);
    host.records(&fields.orientation, RECORD, ORIENTATION);
    let scalars = fields.scalars.carried().map(|(scalar, values)| ParticleArray {
        name: scalar.name(),
        memory: ArrayMemory::F64(values),
        len: fields.len(),
        width: 1,
        first: 0,
        stride: 1,
        is_present: true,
    });
    host.arrays.extend(scalars);
    host.arrays
}

fn arrays_of_fluid(fields: &FluidFields) -> Vec<ParticleArray<'_>> {
    let mut host = HostArrays {
        len: fields.len(),
        arrays: Vec::new(),
    };
    host.integers(&fields.id, ID);
    host.integers(&fields.kind, KIND);
    host.records(&fields.position, RECORD, FLUID_POSITION);
    host.records(&fields.velocity_pressure, RECORD, FLUID_VELOCITY);
    host.records(&fields.half_velocity, 3, HALF_STEP_VELOCITY);
    host.records(&fields.density_error, 1, DENSITY_ERROR);
    host.arrays
}
