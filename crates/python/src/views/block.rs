//! One block of `sim.hold()`, and the arrays that it shows.

use super::Array;
use crate::errors;
use crate::shared::{Share, Shared};
use pyo3::exceptions::{PyAttributeError, PyBufferError, PyValueError};
use pyo3::prelude::*;
use seixo::device::gpu::CudaMemory;
use seixo::engine::state::{ArrayMemory, ArraysError, NumberType, ParticleArray};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// An array of the engine.
#[derive(Clone)]
pub(crate) struct ShownArray {
    pub(crate) name: &'static str,
    pub(crate) number_type: NumberType,
    /// Address of the first number, 0 without particles.
    pub(crate) address: u64,
    /// Number of particles.
    pub(crate) len: usize,
    /// Numbers per particle; with 1 the array has one dimension.
    pub(crate) width: usize,
    /// Numbers from one particle to the next.
    pub(crate) stride: usize,
    is_present: bool,
    /// The memory, if it is that of a GPU.
    pub(crate) memory: Option<CudaMemory>,
}

impl ShownArray {
    fn of(array: &ParticleArray<'_>) -> ShownArray {
        ShownArray {
            name: array.name,
            number_type: array.number_type(),
            address: array.address(),
            len: array.len,
            width: array.width,
            stride: array.stride,
            is_present: array.is_present,
            memory: match &array.memory {
                ArrayMemory::Cuda(memory, _) => Some(memory.clone()),
                ArrayMemory::U32(_) | ArrayMemory::F64(_) => None,
            },
        }
    }
}

/// One block, from its beginning to its end.
pub(crate) struct Block {
    shared: Arc<Shared>,
    is_open: AtomicBool,
    /// Whether forces were brought up to date in this block.
    was_observed: AtomicBool,
    /// Time of the simulation \[s\].
    pub(crate) time: f64,
    /// Number of steps taken.
    pub(crate) steps: u64,
    pub(crate) grains: Vec<ShownArray>,
    pub(crate) fluid: Option<Vec<ShownArray>>,
}

impl Block {
    /// Holds the simulation.
    pub(crate) fn open(shared: &Arc<Shared>) -> PyResult<Block> {
        // Under this lock no other thread is in the middle of a step.
        let session = shared.lock()?;
        if shared.held.swap(true, SeqCst) {
            return Err(PyBufferError::new_err(
                "the simulation is held already; leave the other block of sim.hold() first",
            ));
        }
        let simulation = session.simulation();
        let arrays = simulation.arrays().map_err(|error| {
            shared.held.store(false, SeqCst);
            refused(&error)
        })?;
        Ok(Block {
            shared: shared.clone(),
            is_open: AtomicBool::new(true),
            was_observed: AtomicBool::new(false),
            time: simulation.time(),
            steps: simulation.steps(),
            grains: arrays.grains.iter().map(ShownArray::of).collect(),
            fluid: arrays.fluid.map(|fluid| fluid.iter().map(ShownArray::of).collect()),
        })
    }

    /// Releases the simulation.
    pub(crate) fn close(&self) {
        if self.is_open.swap(false, SeqCst) {
            self.shared.held.store(false, SeqCst);
        }
    }

    /// # Errors
    /// `ValueError` after the block.
    pub(crate) fn check_open(&self) -> PyResult<()> {
        if self.is_open.load(SeqCst) {
            return Ok(());
        }
        Err(PyValueError::new_err(
            "the block of sim.hold() is over, and this was valid in it only; copy it inside the block, such as with numpy.array(...)",
        ))
    }

    /// A share of the memory of an array, for a reader that may outlive the block.
    pub(crate) fn share(&self, array: &ShownArray) -> PyResult<Share> {
        // Counted before the check: if the block ends between the two, the next step sees the share.
        let share = Share::new(&self.shared, array.memory.clone());
        self.check_open()?;
        Ok(share)
    }

    /// The array with this name.
    pub(crate) fn array(self: &Arc<Block>, py: Python<'_>, arrays: &[ShownArray], name: &str) -> PyResult<Array> {
        self.check_open()?;
        let Some(array) = arrays.iter().find(|array| array.name == name) else {
            let names: Vec<&str> = arrays.iter().map(|array| array.name).collect();
            return Err(PyAttributeError::new_err(format!(
                "these particles have no {name}; they have {}",
                names.join(", ")
            )));
        };
        if !array.is_present && !self.was_observed.load(SeqCst) {
            py.detach(|| {
                let observed = self.shared.lock()?.simulation_mut().observe();
                observed.map_err(|error| errors::of_step(&error))
            })?;
            self.was_observed.store(true, SeqCst);
        }
        Ok(Array::new(self.clone(), array.clone()))
    }
}

/// Words of Python for the reason why there are no arrays.
fn refused(error: &ArraysError) -> PyErr {
    errors::wrong(match error {
        ArraysError::Decomposed { domains } => format!(
            "the particles are distributed over {domains} domains, so that no array has all of them; read copies, which gather them, or use one domain"
        ),
        ArraysError::NoAddresses { device } => format!(
            "{device} shows no addresses of its memory, as only CUDA does; read copies on the CPU, or use device=\"cuda\" or \"cpu\""
        ),
        ArraysError::StepsQueued | ArraysError::Gpu(_) => error.to_string(),
    })
}
