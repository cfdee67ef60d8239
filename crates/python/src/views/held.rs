//! The objects that `with sim.hold() as now:` gives.

use super::Array;
use super::block::Block;
use crate::shared::Shared;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Arc, Mutex, PoisonError};

/// Views of the particles of a simulation where the engine keeps them, for a block of `with`.
///
/// Inside the block nothing changes the simulation: stepping, inserting and the like raise `BufferError`. Particles are in the order of the engine;
/// `id` says which is which. All views are read-only: change values through the simulation, which keeps its neighbor lists and its ledger right.
/// After the block views raise `ValueError`. Arrays that other libraries made of them stay valid, and the simulation raises `BufferError` instead
/// of a step until they are deleted.
#[pyclass(frozen, module = "seixo")]
pub(crate) struct Held {
    shared: Arc<Shared>,
    block: Mutex<Option<Arc<Block>>>,
}

impl Held {
    /// For one block or several, one after another.
    pub(crate) fn new(shared: Arc<Shared>) -> Held {
        Held {
            shared,
            block: Mutex::new(None),
        }
    }

    fn block(&self) -> PyResult<Arc<Block>> {
        let block = self.block.lock().unwrap_or_else(PoisonError::into_inner).clone();
        block.ok_or_else(|| PyValueError::new_err("there is no open block; use it as in `with sim.hold() as now:`"))
    }

    fn end(&self) {
        let block = self.block.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(block) = block {
            block.close();
        }
    }
}

impl Drop for Held {
    /// A block that was never left must not hold the simulation for ever.
    fn drop(&mut self) {
        self.end();
    }
}

#[pymethods]
impl Held {
    fn __enter__<'py>(slf: PyRef<'py, Self>, py: Python<'py>) -> PyResult<PyRef<'py, Self>> {
        let shared = &slf.shared;
        let block = py.detach(|| Block::open(shared))?;
        *slf.block.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(block));
        Ok(slf)
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.end();
    }

    /// Time of the simulation [s].
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.block()?.time)
    }

    /// Number of steps taken.
    #[getter]
    fn steps(&self) -> PyResult<u64> {
        Ok(self.block()?.steps)
    }

    /// Views of all grains, those of disabled groups excepted.
    #[getter]
    fn grains(&self) -> PyResult<HeldGrains> {
        Ok(HeldGrains(self.block()?))
    }

    /// Views of all fluid particles, with those of walls and bodies.
    ///
    /// Raises `AttributeError` if the scene has no fluid.
    #[getter]
    fn fluid(&self) -> PyResult<HeldFluid> {
        let block = self.block()?;
        if block.fluid.is_none() {
            return Err(PyAttributeError::new_err("the scene has no fluid"));
        }
        Ok(HeldFluid(block))
    }
}

/// Views of all grains in a block of `sim.hold()`, in the order of the engine.
///
/// A name that these grains do not have raises `AttributeError`, such as `torque` without friction.
#[pyclass(frozen, module = "seixo")]
pub(crate) struct HeldGrains(Arc<Block>);

impl HeldGrains {
    fn array(&self, py: Python<'_>, name: &str) -> PyResult<Array> {
        self.0.array(py, &self.0.grains, name)
    }
}

#[pymethods]
impl HeldGrains {
    fn __len__(&self) -> usize {
        self.0.grains.first().map_or(0, |array| array.len)
    }

    /// Unique ids, (n,).
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "id")
    }

    /// Indices of the materials, (n,).
    #[getter]
    fn material(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "material")
    }

    /// Indices of the groups, (n,).
    #[getter]
    fn group(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "group")
    }

    /// Centers [m], (n, 3).
    #[getter]
    fn position(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "position")
    }

    /// Radii [m], (n,).
    #[getter]
    fn radius(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "radius")
    }

    /// Velocities as contact laws read them at this time [m/s], (n, 3): they lack the change of the force in the last half step. Copies have it.
    #[getter]
    fn velocity(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "velocity")
    }

    /// Angular velocities as contact laws read them at this time [rad/s], (n, 3). Only with friction.
    #[getter]
    fn angular_velocity(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "angular_velocity")
    }

    /// Velocities that the integrator keeps [m/s], (n, 3): half a step earlier with leapfrog. Not kept for grains of rigid bodies. On a GPU in `mixed`
    /// a copy.
    #[getter]
    fn half_step_velocity(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "half_step_velocity")
    }

    /// Angular velocities that the integrator keeps [rad/s], (n, 3). Only with friction; not kept for grains of rigid bodies. On a GPU in `mixed` a
    /// copy.
    #[getter]
    fn half_step_angular_velocity(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "half_step_angular_velocity")
    }

    /// Masses [kg], (n,); for grains of rigid bodies the inertia that contact laws read.
    #[getter]
    fn mass(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "mass")
    }

    /// Forces of contacts, bonds and loads [N], (n, 3), without gravity and the force of fluids on bodies. On a GPU the first use in a block computes
    /// them, and copies all particles to the CPU for the ledger.
    #[getter]
    fn force(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "force")
    }

    /// Torques of contacts, bonds and loads [N m], (n, 3). Only with friction; on a GPU as `force`.
    #[getter]
    fn torque(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "torque")
    }

    /// Numbers of contacts as floating-point numbers, (n,); on a GPU as `force`.
    #[getter]
    fn coordination(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "coordination")
    }

    /// Orientations as unit quaternions w x y z, (n, 4); of polyhedral grains those of their principal axes. Only with these, bonds or Gear's method.
    #[getter]
    fn orientation(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "orientation")
    }

    /// Temperatures [K], (n,). Only with heat conduction, on the CPU.
    #[getter]
    fn temperature(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "temperature")
    }

    /// Film thicknesses [m], (n,). Only with liquid films, on the CPU.
    #[getter]
    fn film_thickness(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "film_thickness")
    }
}

/// Views of all fluid particles in a block of `sim.hold()`, in the order of the engine, with those of walls and bodies.
///
/// Fluid particles are those with `kind` below 2**31. The others keep other values in the same arrays.
#[pyclass(frozen, module = "seixo")]
pub(crate) struct HeldFluid(Arc<Block>);

impl HeldFluid {
    fn array(&self, py: Python<'_>, name: &str) -> PyResult<Array> {
        self.0.array(py, self.0.fluid.as_deref().unwrap_or_default(), name)
    }
}

#[pymethods]
impl HeldFluid {
    fn __len__(&self) -> usize {
        let first = self.0.fluid.as_ref().and_then(|arrays| arrays.first());
        first.map_or(0, |array| array.len)
    }

    /// Unique ids, (n,).
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "id")
    }

    /// Index of the fluid, below 2**31; from 2**31 on for particles of walls, bodies, inlets and outlets, (n,).
    #[getter]
    fn kind(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "kind")
    }

    /// Positions [m], (n, 3).
    #[getter]
    fn position(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "position")
    }

    /// Volumes [m^3], (n,); negative for particles of walls.
    #[getter]
    fn volume(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "volume")
    }

    /// Velocities at this time [m/s], (n, 3): they lack the change of the force in the last half step. Copies have it.
    #[getter]
    fn velocity(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "velocity")
    }

    /// Velocities that the integrator keeps [m/s], (n, 3): half a step earlier with leapfrog.
    #[getter]
    fn half_step_velocity(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "half_step_velocity")
    }

    /// Pressures [Pa], (n,).
    #[getter]
    fn pressure(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "pressure")
    }

    /// Excess of density over the rest density, relative to it [-], (n,): the density is that at rest times 1 + this.
    #[getter]
    fn density_error(&self, py: Python<'_>) -> PyResult<Array> {
        self.array(py, "density_error")
    }
}
