//! Simulations that Python steps.

use crate::external_force::ExternalForce;
use crate::scene::Scene;
use crate::shared::Shared;
use crate::views::Held;
use crate::{contacts, errors, insertion, parts, snapshots, stress, views};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seixo::engine::StepError;
use seixo::engine::state::Ledger;
use seixo::run::{RunError, Schedule, Session, Until, UserChange};
use seixo::scene::quantity;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Wall time of steps between two checks of signals \[s\]: far below what a user notices, far above the cost of a check.
const CHUNK: f64 = 0.03;

/// A scene that a program steps; `seixo.Simulation` adds callbacks and names to it.
#[pyclass(subclass, frozen, module = "seixo._seixo")]
pub struct Simulation {
    pub(crate) shared: Arc<Shared>,
    /// Number of steps that take about [`CHUNK`].
    pace: AtomicU64,
}

/// A condition that ends steps, such as `time > 2 s or probe.core.strain_zz > 0.15`.
#[pyclass(frozen, module = "seixo._seixo")]
pub struct Condition(Mutex<Until>);

/// Steps nearest to the multiples of a time, as for the outputs of a run.
#[pyclass(frozen, module = "seixo._seixo")]
pub struct Multiples(Schedule);

#[pymethods]
impl Multiples {
    /// Multiples of `every` [s], for steps of `time_step` [s].
    #[new]
    fn new(every: f64, time_step: f64) -> Multiples {
        Multiples(Schedule::new(every, time_step))
    }

    /// First of them at this step or later.
    fn at_or_after(&self, step: u64) -> u64 {
        step.checked_sub(1).map_or(0, |before| self.0.step_after(before))
    }
}

/// The value in SI units of a text such as "0.1 ms". `unit` is the SI unit of what belongs here; `ValueError` for another one.
#[pyfunction]
fn quantity_in(text: &str, unit: &str) -> PyResult<f64> {
    let read = |text: &str| quantity::parse(text).map_err(|found| errors::wrong(format!("{}; {}", found.message, found.remedy)));
    let (found, wanted) = (read(text)?, read(&format!("1 {unit}"))?.powers);
    match (found.powers, wanted) {
        (Some(powers), Some(wanted)) if powers != wanted => Err(errors::wrong(format!(
            "\"{text}\" is {powers}, but {wanted} belongs here; write a number and a unit, as in \"1 {unit}\""
        ))),
        _ => Ok(found.value),
    }
}

impl Simulation {
    /// Looks at the session while other threads may use Python.
    fn look<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&mut Session) -> T + Send) -> PyResult<T> {
        let shared = &self.shared;
        py.detach(move || {
            let mut session = shared.lock()?;
            Ok(look(&mut session))
        })
    }

    /// Looks at the state of the present step, wherever it is computed.
    fn observe<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&seixo::Simulation) -> T + Send) -> PyResult<T> {
        let seen = self.look(py, move |session| -> Result<T, StepError> {
            let simulation = session.simulation_mut();
            simulation.observe()?;
            Ok(look(simulation))
        })?;
        seen.map_err(|error| errors::of_step(&error))
    }

    /// Steps or changes the session, unless arrays at its addresses are in use.
    fn alter<T: Send>(&self, py: Python<'_>, alter: impl FnOnce(&mut Session) -> Result<T, RunError> + Send) -> PyResult<T> {
        let shared = &self.shared;
        let altered = py.detach(move || -> PyResult<Result<T, RunError>> {
            let mut session = shared.lock_for_change()?;
            Ok(alter(&mut session))
        })?;
        altered.map_err(|error| errors::of_run(py, &error))
    }

    fn change(&self, py: Python<'_>, change: UserChange) -> PyResult<()> {
        self.alter(py, move |session| session.change(change))
    }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scene, overrides, path=None))]
    fn new(
        py: Python<'_>,
        scene: Option<PyRef<'_, Scene>>,
        overrides: Vec<(String, String)>,
        path: Option<PathBuf>,
    ) -> PyResult<Simulation> {
        let session = match (&scene, path) {
            (Some(scene), None) => {
                let scene: &Scene = scene;
                let loaded = py.detach(|| scene.load(&overrides)).map_err(|found| errors::of_scene(py, &found))?;
                py.detach(move || Session::new(loaded))
            }
            (None, Some(path)) => py.detach(|| Session::resume(&path, &overrides)),
            _ => {
                let reason = "a simulation begins with a scene or with a checkpoint; give one of the two";
                return Err(errors::wrong(reason.to_owned()));
            }
        };
        let session = session.map_err(|error| errors::of_run(py, &error))?;
        Ok(Simulation {
            shared: Shared::new(session),
            pace: AtomicU64::new(1),
        })
    }

    /// Takes up to this many steps; returns their number, and whether the condition or that of the last stage ended them.
    #[pyo3(name = "_advance", signature = (steps, until=None))]
    fn advance(&self, py: Python<'_>, steps: u64, until: Option<&Bound<'_, Condition>>) -> PyResult<(u64, bool)> {
        let condition = until.map(|until| until.get());
        let mut taken = 0;
        loop {
            let (left, pace) = (steps - taken, self.pace.load(Ordering::Relaxed));
            let (asked, done, is_over, seconds) = self.alter(py, move |session| {
                let asked = whole_batches(pace, session.simulation().steps_at_once()).min(left);
                let mut until = condition.map(|condition| condition.0.lock().unwrap_or_else(PoisonError::into_inner));
                let (planned, began) = (session.steps_at_end(), Instant::now());
                let done = session.advance(asked, until.as_deref_mut())?;
                // The last stage may end the run with the last step of a chunk, too.
                let is_over = done < asked || session.steps_at_end() != planned;
                Ok((asked, done, is_over, began.elapsed().as_secs_f64()))
            })?;
            taken += done;
            if done == asked && asked >= pace {
                let fitting = CHUNK * asked as f64 / seconds.max(1e-9);
                self.pace.store((fitting as u64).clamp(1, 2 * asked.max(1)), Ordering::Relaxed);
            } else if seconds > CHUNK {
                self.pace.store((asked / 2).max(1), Ordering::Relaxed);
            }
            py.check_signals()?;
            if is_over || taken >= steps {
                return Ok((taken, is_over));
            }
        }
    }

    /// Reads a condition in the words of a stage's `until`.
    #[pyo3(name = "_condition")]
    fn condition(&self, py: Python<'_>, text: &str) -> PyResult<Condition> {
        let read = self.look(py, |session| session.until(text))?;
        let until = read.map_err(|found| errors::of_scene(py, &found))?;
        Ok(Condition(Mutex::new(until)))
    }

    /// Number of steps and changes so far.
    #[getter(_version)]
    fn version(&self) -> u64 {
        self.shared.version.load(Ordering::Relaxed)
    }

    /// Simulated time [s].
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.look(py, |session| session.simulation().time())
    }

    /// Number of completed steps.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, |session| session.simulation().steps())
    }

    /// Number of steps at the end of the scene: those of `run.until`, or of the condition that has ended the last stage.
    #[getter]
    fn steps_at_end(&self, py: Python<'_>) -> PyResult<u64> {
        self.look(py, |session| session.steps_at_end())
    }

    /// Length of a step [s].
    #[getter]
    fn time_step(&self, py: Python<'_>) -> PyResult<f64> {
        self.look(py, |session| session.simulation().time_step().value)
    }

    /// Name of the stage; None in a scene without stages.
    #[getter]
    fn stage(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.look(py, |session| session.stage().map(str::to_owned))
    }

    /// Name of the device that computes.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |session| session.simulation().device_name())
    }

    /// Precision: "f64", "mixed" or "f32".
    #[getter]
    fn precision(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.look(py, |session| session.simulation().precision().name())
    }

    /// Number of threads of the CPU.
    #[getter]
    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |session| session.simulation().threads())
    }

    /// Title of the scene.
    #[getter]
    fn title(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |session| session.scene().title.clone())
    }

    /// Notes of the scene and of the device; none of them is an error.
    #[getter]
    fn notices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.look(py, |session| {
            [session.scene().notices.as_slice(), session.simulation().notices()].concat()
        })
    }

    /// Number of grains.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.look(py, |session| session.simulation().len())
    }

    /// Names in the scene: groups, materials, walls, fluids, bonds, probes, and probes of stress.
    #[pyo3(name = "_names")]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let named = self.look(py, |session| parts::names(session))?;
        let names = PyDict::new(py);
        for (kind, list) in named {
            names.set_item(kind, list)?;
        }
        Ok(names)
    }

    /// Gravitational acceleration [m/s²].
    #[pyo3(name = "_gravity_now")]
    fn gravity_now(&self, py: Python<'_>) -> PyResult<[f64; 3]> {
        self.look(py, |session| session.simulation().gravity())
    }

    #[pyo3(name = "_set_gravity")]
    fn set_gravity(&self, py: Python<'_>, gravity: [f64; 3]) -> PyResult<()> {
        self.change(py, UserChange::Gravity { gravity })
    }

    #[pyo3(name = "_move_wall", signature = (wall, velocity, angular_velocity, about=None))]
    fn move_wall(
        &self,
        py: Python<'_>,
        wall: String,
        velocity: [f64; 3],
        angular_velocity: [f64; 3],
        about: Option<[f64; 3]>,
    ) -> PyResult<()> {
        self.change(
            py,
            UserChange::WallMotion {
                wall,
                velocity,
                angular_velocity,
                about,
            },
        )
    }

    #[pyo3(name = "_set_servo_target")]
    fn set_servo_target(&self, py: Python<'_>, wall: String, target: f64) -> PyResult<()> {
        self.change(py, UserChange::ServoTarget { wall, target })
    }

    #[pyo3(name = "_set_wall_there")]
    fn set_wall_there(&self, py: Python<'_>, wall: String, there: bool) -> PyResult<()> {
        self.change(py, UserChange::WallThere { wall, there })
    }

    #[pyo3(name = "_load_group")]
    fn load_group(&self, py: Python<'_>, group: String, force: [f64; 3]) -> PyResult<()> {
        self.change(py, UserChange::GroupForce { group, force })
    }

    #[pyo3(name = "_throw_group")]
    fn throw_group(&self, py: Python<'_>, group: String, velocity: [f64; 3]) -> PyResult<()> {
        self.change(py, UserChange::GroupVelocity { group, velocity })
    }

    #[pyo3(name = "_move_group", signature = (group, velocity, angular_velocity, about=None))]
    fn move_group(
        &self,
        py: Python<'_>,
        group: String,
        velocity: [f64; 3],
        angular_velocity: [f64; 3],
        about: Option<[f64; 3]>,
    ) -> PyResult<()> {
        self.change(
            py,
            UserChange::GroupMotion {
                group,
                velocity,
                angular_velocity,
                about,
            },
        )
    }

    #[pyo3(name = "_free_group")]
    fn free_group(&self, py: Python<'_>, group: String) -> PyResult<()> {
        self.change(py, UserChange::GroupFree { group })
    }

    #[pyo3(name = "_throw_body", signature = (body, velocity, angular_velocity=None))]
    fn throw_body(&self, py: Python<'_>, body: u32, velocity: [f64; 3], angular_velocity: Option<[f64; 3]>) -> PyResult<()> {
        self.change(
            py,
            UserChange::BodyVelocity {
                body,
                velocity,
                angular_velocity,
            },
        )
    }

    /// Walls at this step, as arrays in the order of their names.
    #[pyo3(name = "_wall_arrays")]
    fn wall_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let walls = self.observe(py, parts::walls)?;
        parts::arrays_of_walls(py, walls)
    }

    /// Rigid bodies at this step, as arrays.
    #[pyo3(name = "_body_arrays")]
    fn body_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bodies = self.observe(py, parts::bodies)?;
        parts::arrays_of_bodies(py, bodies)
    }

    /// Ids of the bodies of a group, by its index.
    #[pyo3(name = "_bodies_of_group")]
    fn bodies_of_group(&self, py: Python<'_>, group: u32) -> PyResult<Vec<u32>> {
        self.observe(py, move |simulation| parts::bodies_of_group(simulation, group))
    }

    /// Index of the group of a body, and whether it has a prescribed motion or a joint.
    #[pyo3(name = "_group_of_body")]
    fn group_of_body(&self, py: Python<'_>, body: u32) -> PyResult<Option<(u32, bool)>> {
        self.observe(py, move |simulation| parts::group_of_body(simulation, body))
    }

    /// Center of mass of a group [m], by its index.
    #[pyo3(name = "_center_of_group")]
    fn center_of_group(&self, py: Python<'_>, group: u32) -> PyResult<[f64; 3]> {
        self.observe(py, move |simulation| {
            seixo::analysis::center_of_group(&simulation.snapshot(), group)
        })
    }

    /// Grains at this step, as arrays in the order of their ids.
    #[pyo3(name = "_grain_arrays")]
    fn grain_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let grains = self.observe(py, seixo::Simulation::snapshot)?;
        snapshots::arrays_of_grains(py, grains)
    }

    /// Fluid particles at this step, as arrays in the order of their ids.
    #[pyo3(name = "_fluid_arrays")]
    fn fluid_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fluid = self.observe(py, seixo::Simulation::fluid)?;
        snapshots::arrays_of_fluid(py, fluid.unwrap_or_default())
    }

    /// Intact bonds at this step, as arrays in the order in which they were made.
    #[pyo3(name = "_bond_arrays")]
    fn bond_arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bonds = self.observe(py, seixo::Simulation::bonds_now)?;
        snapshots::arrays_of_bonds(py, &bonds)
    }

    /// Contacts at this step, as arrays; those with walls only if they are wanted.
    #[pyo3(name = "_contact_arrays")]
    fn contact_arrays<'py>(&self, py: Python<'py>, walls: bool) -> PyResult<Bound<'py, PyDict>> {
        let found = self.look(py, |session| session.simulation_mut().contacts_now())?;
        let found = found.map_err(|error| errors::of_step(&error))?;
        contacts::arrays_of_contacts(py, &found, walls)
    }

    /// Mean stress of contacts and of motion in a region [Pa], each as the nine components of its rows; None once the body that carries the region has
    /// left. `region` is "probe" with the name of a probe, or "all", "box", "sphere" or "cylinder" with the numbers that define it.
    #[pyo3(name = "_stress_in")]
    fn stress_in(&self, py: Python<'_>, region: &str, name: &str, numbers: Vec<f64>) -> PyResult<Option<[[f64; 9]; 2]>> {
        let found = self.look(py, move |session| stress::stress_in_region(session, region, name, &numbers))?;
        found.map_err(|error| match error {
            stress::Refusal::Misuse(reason) => errors::wrong(reason),
            stress::Refusal::Stopped(error) => errors::of_step(&error),
        })
    }

    /// Adds grains; returns their ids.
    #[pyo3(name = "_insert_grains", signature = (position, radius, velocity, angular_velocity, material, group, id, mass, scalars))]
    #[expect(clippy::too_many_arguments, reason = "one argument per column of the table")]
    fn insert_grains(
        &self,
        py: Python<'_>,
        position: PyReadonlyArray2<'_, f64>,
        radius: PyReadonlyArray1<'_, f64>,
        velocity: PyReadonlyArray2<'_, f64>,
        angular_velocity: PyReadonlyArray2<'_, f64>,
        material: PyReadonlyArray1<'_, u32>,
        group: PyReadonlyArray1<'_, u32>,
        id: Option<PyReadonlyArray1<'_, u32>>,
        mass: Option<PyReadonlyArray1<'_, f64>>,
        scalars: &Bound<'_, PyDict>,
    ) -> PyResult<Vec<u32>> {
        let newcomers = insertion::Newcomers {
            position: insertion::rows(&position)?,
            radius: insertion::column(&radius)?,
            velocity: insertion::rows(&velocity)?,
            angular_velocity: insertion::rows(&angular_velocity)?,
            material: insertion::column(&material)?,
            group: insertion::column(&group)?,
            id: id.map(|id| insertion::column(&id)).transpose()?,
            mass: mass.map(|mass| insertion::column(&mass)).transpose()?,
            scalars: insertion::scalars(scalars)?,
        };
        let added = self.alter(py, move |session| {
            let Some(grains) = newcomers.grains(session.simulation().next_id()) else {
                return Ok(None);
            };
            session.insert(&grains).map(|()| Some(grains.id))
        })?;
        added.ok_or_else(|| {
            let reason = format!(
                "no ids are left for new grains, the largest is {}; give ids that are free (`id`)",
                u32::MAX
            );
            errors::wrong(reason)
        })
    }

    /// Removes grains by their ids.
    #[pyo3(name = "_remove_grains")]
    fn remove_grains(&self, py: Python<'_>, id: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let ids: Vec<u32> = insertion::column(&id)?;
        self.alter(py, move |session| session.remove(&ids))
    }

    /// Columns of a probe so far, with the names that its table has.
    #[pyo3(name = "_probe_columns")]
    fn probe_columns<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
        let found = self.look(py, |session| {
            let (names, rows) = session.probe(name)?;
            Some(snapshots::columns_of(names, rows))
        })?;
        found.map(|columns| snapshots::table(py, columns)).transpose()
    }

    /// Terms of the energy ledger [J].
    #[pyo3(name = "_ledger_terms")]
    fn ledger_terms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ledger = self.observe(py, seixo::Simulation::ledger)?;
        let terms = PyDict::new(py);
        for (name, value) in Ledger::NAMES.into_iter().zip(ledger.values()) {
            terms.set_item(name.trim_end_matches(" [J]"), value)?;
        }
        Ok(terms)
    }

    /// Events since the last call, each as JSON.
    #[pyo3(name = "_new_events")]
    fn new_events(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.look(py, |session| {
            let events = session.events();
            events.iter().filter_map(|event| serde_json::to_string(event).ok()).collect()
        })
    }

    /// External forces on grains [N], which act until they are set again: `sim.external_force[ids] = forces` with (n, 3) or (3).
    #[getter]
    fn external_force(&self) -> ExternalForce {
        ExternalForce::of(self.shared.clone())
    }

    /// External torques on grains [N m], which act until they are set again: `sim.external_torque[ids] = torques` with (n, 3) or (3).
    #[getter]
    fn external_torque(&self) -> ExternalForce {
        ExternalForce::torque_of(self.shared.clone())
    }

    /// Holds the simulation at this step: `with sim.hold() as now:` gives views of its arrays, which are valid only in the block.
    ///
    /// The block raises `BufferError` if the simulation is held already, and `ValueError` if its arrays cannot be shown, as those of several domains.
    fn hold(&self) -> PyResult<Held> {
        views::hold(self.shared.clone())
    }

    /// BLAKE3 of the state, as hexadecimal digits: equal for two simulations whose states have the same bits.
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, Session::digest)?.map_err(|error| errors::of_run(py, &error))
    }

    /// Writes a checkpoint file from which `Simulation.resume` goes on. Raises `FileError` if it cannot be written.
    fn checkpoint(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let saved = self.look(py, move |session| session.save(&path))?;
        saved.map_err(|error| errors::of_run(py, &error))
    }
}

/// A number of steps as whole batches of the device, if it is as large as one: each partial batch makes a GPU wait once more.
fn whole_batches(steps: u64, batch: u64) -> u64 {
    match steps / batch.max(1) {
        0 => steps,
        batches => batches * batch.max(1),
    }
}

/// Adds this file's classes and functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Simulation>()?;
    module.add_class::<Condition>()?;
    module.add_class::<Multiples>()?;
    module.add_function(wrap_pyfunction!(quantity_in, module)?)
}
