//! Forces and torques on single grains from arrays, as a running simulation shows them to Python.

use crate::errors;
use crate::shared::Shared;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PySlice;
use seixo::Simulation;
use seixo::engine::ExternalForces;
use std::sync::Arc;

/// What is given to grains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantity {
    /// Forces \[N\].
    Force,
    /// Torques \[N m\].
    Torque,
}

impl Quantity {
    fn of(self, all: ExternalForces) -> Vec<[f64; 3]> {
        match self {
            Quantity::Force => all.force,
            Quantity::Torque => all.torque,
        }
    }
}

/// External forces [N] or torques [N m] on single grains, which act from the time at which they are given until they are replaced.
///
/// A key is one id, an array of ids (n), a Boolean array over all grains in the order of their ids, or `[:]` for all grains. A value has three
/// components for each of these grains, (n, 3), or three for all of them together, (3). Reading makes a copy (n, 3), or (3) for one id.
///
/// A force that is given in every step is one that changes all the time, such as that of a spring. A grain of a rigid body passes its force and
/// torque on to the body. There is no such force on fluid particles.
///
/// Raises `ValueError` for a wrong key or shape, for a value that is not finite, and for a grain that is not there.
#[pyclass(frozen, mapping, module = "seixo._seixo")]
pub struct ExternalForce {
    shared: Arc<Shared>,
    quantity: Quantity,
}

impl ExternalForce {
    /// The external forces of a simulation.
    pub(crate) fn of(shared: Arc<Shared>) -> ExternalForce {
        ExternalForce {
            shared,
            quantity: Quantity::Force,
        }
    }

    /// The external torques of a simulation.
    pub(crate) fn torque_of(shared: Arc<Shared>) -> ExternalForce {
        ExternalForce {
            shared,
            quantity: Quantity::Torque,
        }
    }

    /// Changes the simulation while other threads may use Python: none waits for Python while it has the simulation.
    fn change<T: Send>(&self, py: Python<'_>, run: impl FnOnce(&mut Simulation) -> T + Send) -> PyResult<T> {
        let shared = &self.shared;
        py.detach(move || -> PyResult<T> {
            let mut session = shared.lock_for_change()?;
            Ok(run(session.simulation_mut()))
        })
    }

    /// All external forces and torques now.
    fn all(&self, py: Python<'_>) -> PyResult<ExternalForces> {
        let shared = &self.shared;
        let seen = py.detach(move || -> PyResult<_> { Ok(shared.lock()?.simulation_mut().external_forces()) });
        seen?.map_err(|error| errors::of_step(&error))
    }
}

#[pymethods]
impl ExternalForce {
    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let all = self.all(py)?;
        let key = Key::read(key)?;
        let places = key
            .ids(&all.id)?
            .iter()
            .map(|id| all.id.binary_search(id).map_err(|_| absent(*id)))
            .collect::<PyResult<Vec<usize>>>()?;
        let values = self.quantity.of(all);
        let chosen: Vec<[f64; 3]> = places.iter().map(|&place| values[place]).collect();
        let array = rows(py, chosen)?;
        match key {
            Key::One(_) => array.get_item(0),
            _ => Ok(array.into_any()),
        }
    }

    fn __setitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let key = Key::read(key)?;
        let ids = match (&key, self.quantity) {
            (Key::One(id), Quantity::Force) => vec![*id],
            (Key::Ids(ids), Quantity::Force) => ids.clone(),
            _ => key.ids(&self.all(py)?.id)?,
        };
        let vectors = vectors(value, ids.len())?;
        self.give(py, &ids, &vectors)
    }

    /// Number of grains.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.all(py)?.id.len())
    }

    /// Values of all grains in the order of their ids (n, 3).
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(&self, py: Python<'py>, dtype: Option<&Bound<'py, PyAny>>, copy: Option<bool>) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(errors::wrong(
                "reading external forces makes a copy; leave copy=False out".to_owned(),
            ));
        }
        let array = rows(py, self.quantity.of(self.all(py)?))?;
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array.into_any()),
        }
    }

    /// Ends all of them; those of the other kind, torques or forces, are kept.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let all = self.all(py)?;
        let others = match self.quantity {
            Quantity::Force => &all.torque,
            Quantity::Torque => &all.force,
        };
        if others.iter().any(|vector| *vector != [0.0; 3]) {
            let zeros = vec![[0.0; 3]; all.id.len()];
            return self.give(py, &all.id, &zeros);
        }
        self.change(py, Simulation::clear_external_forces)?
            .map_err(|error| errors::of_world(&error))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let all = self.all(py)?;
        let (name, vectors, unit) = match self.quantity {
            Quantity::Force => ("external_force", &all.force, "N"),
            Quantity::Torque => ("external_torque", &all.torque, "N m"),
        };
        let count = vectors.iter().filter(|vector| **vector != [0.0; 3]).count();
        Ok(format!("<{name} [{unit}] on {count} of {} grains>", vectors.len()))
    }
}

impl ExternalForce {
    /// Gives grains forces or torques; the others of the two are kept.
    fn give(&self, py: Python<'_>, ids: &[u32], vectors: &[[f64; 3]]) -> PyResult<()> {
        let (forces, torques) = match self.quantity {
            Quantity::Force => (vectors.to_vec(), None),
            Quantity::Torque => (forces_on(&self.all(py)?, ids)?, Some(vectors)),
        };
        self.change(py, |simulation| simulation.set_external_forces(ids, &forces, torques))?
            .map_err(|error| errors::of_world(&error))
    }
}

/// The grains that a key names.
enum Key {
    /// All grains.
    All,
    /// One id.
    One(u32),
    /// Some ids.
    Ids(Vec<u32>),
    /// Grains in the order of all ids.
    Mask(Vec<bool>),
}

impl Key {
    fn read(key: &Bound<'_, PyAny>) -> PyResult<Key> {
        if let Ok(slice) = key.cast::<PySlice>() {
            for end in ["start", "stop", "step"] {
                if !slice.getattr(end)?.is_none() {
                    return Err(errors::wrong(
                        "keys of external forces are ids, not places, so a slice can only be [:]; use an array of ids or a mask".to_owned(),
                    ));
                }
            }
            return Ok(Key::All);
        }
        let numpy = key.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (key,))?;
        let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
        let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
        if kind == "b" && shape.len() == 1 {
            let mask: PyReadonlyArray1<'_, bool> = array.extract()?;
            return Ok(Key::Mask(mask.as_array().iter().copied().collect()));
        }
        let is_empty = shape == [0];
        if !(is_empty || matches!(kind.as_str(), "i" | "u")) || shape.len() > 1 {
            return Err(errors::wrong(
                "a key of external forces must be an id, a list or array of ids, a Boolean array over all grains in the order of their ids, or [:]".to_owned(),
            ));
        }
        let whole = array.call_method1("astype", ("int64",))?.call_method1("reshape", (-1,))?;
        let whole: PyReadonlyArray1<'_, i64> = whole.extract()?;
        let id = |&id: &i64| {
            u32::try_from(id).map_err(|_| errors::wrong(format!("{id} is not the id of a grain; ids are from 0 to {}", u32::MAX)))
        };
        let ids = whole.as_array().iter().map(id).collect::<PyResult<Vec<u32>>>()?;
        if shape.is_empty() {
            return Ok(Key::One(ids[0]));
        }
        Ok(Key::Ids(ids))
    }

    /// The ids that it names among those of all grains, which are in order.
    fn ids(&self, all: &[u32]) -> PyResult<Vec<u32>> {
        match self {
            Key::All => Ok(all.to_vec()),
            Key::One(id) => Ok(vec![*id]),
            Key::Ids(ids) => Ok(ids.clone()),
            Key::Mask(mask) if mask.len() == all.len() => {
                Ok(all.iter().zip(mask).filter(|(_, is_in)| **is_in).map(|(id, _)| *id).collect())
            }
            Key::Mask(mask) => Err(errors::wrong(format!(
                "the mask has {} values for {} grains; give one for each, in the order of their ids",
                mask.len(),
                all.len()
            ))),
        }
    }
}

/// Values of three components for this many grains.
fn vectors(value: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<[f64; 3]>> {
    let numpy = value.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (value, "float64"))?;
    let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
    if shape != [3] && shape != [count, 3] {
        return Err(errors::wrong(format!(
            "the array has the shape {shape:?}, must be ({count}, 3), one vector for each of these grains, or (3,), one for all"
        )));
    }
    let wide = numpy.call_method1("broadcast_to", (array, (count, 3)))?;
    let wide: PyReadonlyArray2<'_, f64> = wide.extract()?;
    Ok(wide.as_array().outer_iter().map(|row| [row[0], row[1], row[2]]).collect())
}

/// Present forces on these grains.
fn forces_on(all: &ExternalForces, ids: &[u32]) -> PyResult<Vec<[f64; 3]>> {
    let force = |id: &u32| all.id.binary_search(id).map(|place| all.force[place]).map_err(|_| absent(*id));
    ids.iter().map(force).collect()
}

fn absent(id: u32) -> PyErr {
    errors::wrong(format!("there is no grain {id}; take the ids of the present grains"))
}

/// An array with a vector in each row.
fn rows(py: Python<'_>, vectors: Vec<[f64; 3]>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let count = vectors.len();
    vectors.into_flattened().into_pyarray(py).reshape([count, 3])
}

/// Adds this file's classes to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ExternalForce>()
}
