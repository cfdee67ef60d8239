# Stubs of the compiled module. One section per file of crates/python/src, whose texts these are, for editors and for the reference.

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from typing_extensions import CapsuleType, Self, disjoint_base

__all__ = [
    "Array",
    "Condition",
    "Diagnostic",
    "ExternalForce",
    "FileError",
    "FrameFile",
    "Held",
    "HeldFluid",
    "HeldGrains",
    "Multiples",
    "Place",
    "RunError",
    "Scene",
    "SceneError",
    "SeixoError",
    "Simulation",
    "SweepPlan",
    "__version__",
    "folder_of_scene",
    "grain_fields",
    "main",
    "place_at",
    "quantity_in",
    "read_checkpoint",
    "read_collection",
    "read_table",
    "resume_folder",
    "run_scene",
    "scene_templates",
    "scene_text",
]

_Path = str | PathLike[str]
_Ids = int | np.integer[Any] | slice | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]
_Vector = tuple[float, float, float]

__version__: str

# ---------------------------------------------------------------- errors

class SeixoError(Exception):
    """Base of the errors of Seixo. Its text is that of the command line."""

class SceneError(SeixoError):
    """A scene is wrong. `diagnostics` lists all errors, each with file, line, column, key, message and remedy."""

    diagnostics: Sequence[Diagnostic]
    """All errors that were found, in the order of the text; empty if the engine refuses what the scene describes."""

class RunError(SeixoError):
    """A run did not start, or stopped before its end; the text names the last good state."""

class FileError(SeixoError):
    """A file could not be read or written."""

@final
class Diagnostic:
    """One error of a scene; as text it is the line that the command line prints."""

    @property
    def file(self) -> str:
        """File of the scene, or `--set` for a value that was given beside it."""
    @property
    def line(self) -> int | None:
        """Line of the file, from 1; None without a place."""
    @property
    def column(self) -> int | None:
        """Column of the line, from 1; None without a place."""
    @property
    def key(self) -> str | None:
        """Dotted path of the key, as `run.until`; None without a key."""
    @property
    def message(self) -> str:
        """What is wrong."""
    @property
    def value(self) -> str | None:
        """The value as it is written; None without one."""
    @property
    def limit(self) -> str | None:
        """The accepted values; None without a limit."""
    @property
    def remedy(self) -> str:
        """What to do."""

# ---------------------------------------------------------------- external_force

@final
class ExternalForce:
    """External forces [N] or torques [N m] on single grains, which act from the time at which they are given until they are replaced.

    A key is one id, an array of ids (n), a Boolean array over all grains in the order of their ids, or `[:]` for all grains. A value has three
    components for each of these grains, (n, 3), or three for all of them together, (3). Reading makes a copy (n, 3), or (3) for one id.

    A force that is given in every step is one that changes all the time, such as that of a spring. A grain of a rigid body passes its force and
    torque on to the body. There is no such force on fluid particles.

    Raises `ValueError` for a wrong key or shape, for a value that is not finite, and for a grain that is not there.
    """

    def __getitem__(self, key: _Ids, /) -> NDArray[np.float64]: ...
    def __setitem__(self, key: _Ids, value: ArrayLike, /) -> None: ...
    def __len__(self) -> int:
        """Number of grains."""
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Values of all grains in the order of their ids (n, 3)."""
    def clear(self) -> None:
        """Ends all of them; those of the other kind, torques or forces, are kept."""

# ---------------------------------------------------------------- scene

@disjoint_base
class Scene:
    """The text of a scene, which a program edits key by key; comments and order survive. `seixo.Scene` gives access to its keys by their names."""

    def __new__(cls, text: str = "", path: _Path | None = None) -> Self: ...
    @property
    def path(self) -> Path:
        """Path of the scene, for messages; files that it names are relative to its folder."""
    def to_toml(self) -> str:
        """The scene as TOML, as edited, with its comments."""
    def resolved(self) -> str:
        """The scene as TOML with all defaults filled in and all paths absolute. Raises `SceneError`."""
    def kind_at(self, path: Sequence[str]) -> str:
        """What stands at a path: "" (nothing), "table", "list" or "value"."""
    def value_at(self, path: Sequence[str]) -> Any:
        """Copy of what stands at a path, tables as dictionaries; `None` for nothing."""
    def keys_at(self, path: Sequence[str]) -> list[str]:
        """Keys of the table at a path, in the order of the text."""
    def length_at(self, path: Sequence[str]) -> int:
        """Number of items of the list at a path."""
    def set_at(self, path: Sequence[str], value: object) -> None:
        """Sets the value at a path, and creates missing tables. The scene stays as it is if the value is wrong."""
    def remove_at(self, path: Sequence[str]) -> bool:
        """Removes what stands at a path; returns whether something stood there."""
    def findings(self) -> tuple[str, str]:
        """Text and JSON of what `seixo check` finds."""

@final
class Place:
    """What the language of scenes has at a path."""

    @property
    def keys(self) -> list[str]:
        """Keys of the table."""
    @property
    def is_table(self) -> bool:
        """Whether it is a table."""
    @property
    def is_value(self) -> bool:
        """Whether a single value or a list may stand there."""
    @property
    def has_names(self) -> bool:
        """Whether the user names its entries."""
    @property
    def is_list_of_tables(self) -> bool:
        """Whether it is a list of tables."""
    @property
    def default(self) -> Any:
        """Default of the value, or `None`."""

def place_at(path: Sequence[str]) -> Place:
    """What the language of scenes has at a path; `KeyError` with the advice of the command line if a key is unknown."""

def scene_text(path: _Path) -> str:
    """The text of a scene file."""

def scene_templates() -> list[tuple[str, str, str, str, list[tuple[str, str]]]]:
    """All templates."""

# ---------------------------------------------------------------- runs

def run_scene(
    scene: Scene,
    folder: _Path,
    overrides: Sequence[tuple[str, str]],
    overwrite: bool,
    report: Callable[[str], object],
) -> None:
    """Runs a scene into a folder, to its end; `report` gets each line of progress and of the log."""

def resume_folder(
    folder: _Path,
    overrides: Sequence[tuple[str, str]],
    moved: Sequence[tuple[_Path, _Path]],
    report: Callable[[str], object],
) -> None:
    """Resumes a run from the newest checkpoint of its folder; `moved` has old and new paths of files of the scene."""

def folder_of_scene(path: _Path) -> Path:
    """Default run folder of a scene, in the current folder."""

# ---------------------------------------------------------------- simulation

@final
class Condition:
    """A condition that ends steps, such as `time > 2 s or probe.core.strain_zz > 0.15`."""

@final
class Multiples:
    """Steps nearest to the multiples of a time, as for the outputs of a run."""

    def __new__(cls, every: float, time_step: float) -> Self: ...
    def at_or_after(self, step: int) -> int:
        """First of them at this step or later."""

def quantity_in(text: str, unit: str) -> float:
    """The value in SI units of a text such as "0.1 ms". `unit` is the SI unit of what belongs here; `ValueError` for another one."""

@disjoint_base
class Simulation:
    """A scene that a program steps; `seixo.Simulation` adds callbacks and names to it."""

    def __new__(cls, scene: Scene | None, overrides: Sequence[tuple[str, str]], path: _Path | None = None) -> Self: ...
    def __len__(self) -> int: ...
    @property
    def time(self) -> float:
        """Simulated time [s]."""
    @property
    def steps(self) -> int:
        """Number of completed steps."""
    @property
    def steps_at_end(self) -> int:
        """Number of steps at the end of the scene: those of `run.until`, or of the condition that has ended the last stage."""
    @property
    def time_step(self) -> float:
        """Length of a step [s]."""
    @property
    def stage(self) -> str | None:
        """Name of the stage; None in a scene without stages."""
    @property
    def device(self) -> str:
        """Name of the device that computes."""
    @property
    def precision(self) -> str:
        """Precision: "f64", "mixed" or "f32"."""
    @property
    def threads(self) -> int:
        """Number of threads of the CPU."""
    @property
    def title(self) -> str:
        """Title of the scene."""
    @property
    def notices(self) -> list[str]:
        """Notes of the scene and of the device; none of them is an error."""
    def digest(self) -> str:
        """BLAKE3 of the state, as hexadecimal digits: equal for two simulations whose states have the same bits."""
    def checkpoint(self, path: _Path) -> None:
        """Writes a checkpoint file from which `Simulation.resume` goes on. Raises `FileError` if it cannot be written."""
    @property
    def external_force(self) -> ExternalForce:
        """External forces on grains [N], which act until they are set again: `sim.external_force[ids] = forces` with (n, 3) or (3)."""
    @property
    def external_torque(self) -> ExternalForce:
        """External torques on grains [N m], which act until they are set again: `sim.external_torque[ids] = torques` with (n, 3) or (3)."""
    def hold(self) -> Held:
        """Holds the simulation at this step: `with sim.hold() as now:` gives views of its arrays, which are valid only in the block.

        The block raises `BufferError` if the simulation is held already, and `ValueError` if its arrays cannot be shown, as those of several domains.
        """
    @property
    def _version(self) -> int: ...
    def _advance(self, steps: int, until: Condition | None = None) -> tuple[int, bool]: ...
    def _condition(self, text: str) -> Condition: ...
    def _names(self) -> dict[str, list[str]]: ...
    def _gravity_now(self) -> list[float]: ...
    def _set_gravity(self, gravity: _Vector) -> None: ...
    def _move_wall(self, wall: str, velocity: _Vector, angular_velocity: _Vector, about: _Vector | None = None) -> None: ...
    def _set_servo_target(self, wall: str, target: float) -> None: ...
    def _set_wall_there(self, wall: str, there: bool) -> None: ...
    def _load_group(self, group: str, force: _Vector) -> None: ...
    def _throw_group(self, group: str, velocity: _Vector) -> None: ...
    def _move_group(self, group: str, velocity: _Vector, angular_velocity: _Vector, about: _Vector | None = None) -> None: ...
    def _free_group(self, group: str) -> None: ...
    def _throw_body(self, body: int, velocity: _Vector, angular_velocity: _Vector | None = None) -> None: ...
    def _wall_arrays(self) -> dict[str, NDArray[Any]]: ...
    def _body_arrays(self) -> dict[str, NDArray[Any]]: ...
    def _bodies_of_group(self, group: int) -> list[int]: ...
    def _group_of_body(self, body: int) -> tuple[int, bool] | None: ...
    def _center_of_group(self, group: int) -> list[float]: ...
    def _grain_arrays(self) -> dict[str, Any]: ...
    def _fluid_arrays(self) -> dict[str, Any]: ...
    def _bond_arrays(self) -> dict[str, Any]: ...
    def _contact_arrays(self, walls: bool) -> dict[str, Any]: ...
    def _stress_in(self, region: str, name: str, numbers: list[float]) -> list[list[float]] | None: ...
    def _insert_grains(
        self,
        position: NDArray[np.float64],
        radius: NDArray[np.float64],
        velocity: NDArray[np.float64],
        angular_velocity: NDArray[np.float64],
        material: NDArray[np.uint32],
        group: NDArray[np.uint32],
        id: NDArray[np.uint32] | None,
        mass: NDArray[np.float64] | None,
        scalars: dict[str, NDArray[np.float64]],
    ) -> list[int]: ...
    def _remove_grains(self, id: NDArray[np.uint32]) -> None: ...
    def _probe_columns(self, name: str) -> dict[str, NDArray[np.float64]] | None: ...
    def _ledger_terms(self) -> dict[str, float]: ...
    def _new_events(self) -> list[str]: ...

# ---------------------------------------------------------------- views

@final
class Array:
    """A view of an array where the engine keeps it, read-only.

    It is valid in its block of `sim.hold()` only; afterwards it raises `ValueError`. Other libraries take it without a copy: on the CPU
    `numpy.asarray(view)`, on CUDA `cupy.asarray(view)`, and on both `torch.from_dlpack(view)` and everything else that takes DLPack. All work of the
    engine on it is done, on every stream. What such libraries made of it stays valid after the block, and until it is deleted the simulation raises
    `BufferError` instead of a step.

    DLPack before version 1.0 cannot say that an array is read-only, and PyTorch does not heed it: never write to such arrays.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,) for a number per particle, (n, 3) for a vector."""
    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one number to the next, per dimension. Vectors lie in records of four numbers, so that most arrays have gaps."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
    @property
    def address(self) -> int:
        """Address of the first number, in the memory of the process or of the GPU; 0 without particles."""
    @property
    def device(self) -> str:
        """Where the numbers are: `"cpu"`, or `"cuda:0"` and the like."""
    def __len__(self) -> int: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

@final
class Held:
    """Views of the particles of a simulation where the engine keeps them, for a block of `with`.

    Inside the block nothing changes the simulation: stepping, inserting and the like raise `BufferError`. Particles are in the order of the engine;
    `id` says which is which. All views are read-only: change values through the simulation, which keeps its neighbor lists and its ledger right.
    After the block views raise `ValueError`. Arrays that other libraries made of them stay valid, and the simulation raises `BufferError` instead
    of a step until they are deleted.
    """

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    @property
    def time(self) -> float:
        """Time of the simulation [s]."""
    @property
    def steps(self) -> int:
        """Number of steps taken."""
    @property
    def grains(self) -> HeldGrains:
        """Views of all grains, those of disabled groups excepted."""
    @property
    def fluid(self) -> HeldFluid:
        """Views of all fluid particles, with those of walls and bodies.

        Raises `AttributeError` if the scene has no fluid.
        """

@final
class HeldGrains:
    """Views of all grains in a block of `sim.hold()`, in the order of the engine.

    A name that these grains do not have raises `AttributeError`, such as `torque` without friction.
    """

    def __len__(self) -> int: ...
    @property
    def id(self) -> Array:
        """Unique ids, (n,)."""
    @property
    def material(self) -> Array:
        """Indices of the materials, (n,)."""
    @property
    def group(self) -> Array:
        """Indices of the groups, (n,)."""
    @property
    def position(self) -> Array:
        """Centers [m], (n, 3)."""
    @property
    def radius(self) -> Array:
        """Radii [m], (n,)."""
    @property
    def velocity(self) -> Array:
        """Velocities as contact laws read them at this time [m/s], (n, 3): they lack the change of the force in the last half step. Copies have it."""
    @property
    def angular_velocity(self) -> Array:
        """Angular velocities as contact laws read them at this time [rad/s], (n, 3). Only with friction."""
    @property
    def half_step_velocity(self) -> Array:
        """Velocities that the integrator keeps [m/s], (n, 3): half a step earlier with leapfrog. Not kept for grains of rigid bodies. On a GPU in `mixed`
        a copy.
        """
    @property
    def half_step_angular_velocity(self) -> Array:
        """Angular velocities that the integrator keeps [rad/s], (n, 3). Only with friction; not kept for grains of rigid bodies. On a GPU in `mixed` a
        copy.
        """
    @property
    def mass(self) -> Array:
        """Masses [kg], (n,); for grains of rigid bodies the inertia that contact laws read."""
    @property
    def force(self) -> Array:
        """Forces of contacts, bonds and loads [N], (n, 3), without gravity and the force of fluids on bodies. On a GPU the first use in a block computes
        them, and copies all particles to the CPU for the ledger.
        """
    @property
    def torque(self) -> Array:
        """Torques of contacts, bonds and loads [N m], (n, 3). Only with friction; on a GPU as `force`."""
    @property
    def coordination(self) -> Array:
        """Numbers of contacts as floating-point numbers, (n,); on a GPU as `force`."""
    @property
    def orientation(self) -> Array:
        """Orientations as unit quaternions w x y z, (n, 4); of polyhedral grains those of their principal axes. Only with these, bonds or Gear's method."""
    @property
    def temperature(self) -> Array:
        """Temperatures [K], (n,). Only with heat conduction, on the CPU."""
    @property
    def film_thickness(self) -> Array:
        """Film thicknesses [m], (n,). Only with liquid films, on the CPU."""

@final
class HeldFluid:
    """Views of all fluid particles in a block of `sim.hold()`, in the order of the engine, with those of walls and bodies.

    Fluid particles are those with `kind` below 2**31. The others keep other values in the same arrays.
    """

    def __len__(self) -> int: ...
    @property
    def id(self) -> Array:
        """Unique ids, (n,)."""
    @property
    def kind(self) -> Array:
        """Index of the fluid, below 2**31; from 2**31 on for particles of walls, bodies, inlets and outlets, (n,)."""
    @property
    def position(self) -> Array:
        """Positions [m], (n, 3)."""
    @property
    def volume(self) -> Array:
        """Volumes [m^3], (n,); negative for particles of walls."""
    @property
    def velocity(self) -> Array:
        """Velocities at this time [m/s], (n, 3): they lack the change of the force in the last half step. Copies have it."""
    @property
    def half_step_velocity(self) -> Array:
        """Velocities that the integrator keeps [m/s], (n, 3): half a step earlier with leapfrog."""
    @property
    def pressure(self) -> Array:
        """Pressures [Pa], (n,)."""
    @property
    def density_error(self) -> Array:
        """Excess of density over the rest density, relative to it [-], (n,): the density is that at rest times 1 + this."""

# ---------------------------------------------------------------- results

@final
class FrameFile:
    """A file of a frame, of which arrays are read one by one."""

    def __new__(cls, path: _Path) -> Self: ...
    @property
    def time(self) -> float:
        """Time [s]."""
    @property
    def points(self) -> int:
        """Number of points."""
    @property
    def cells(self) -> int:
        """Number of vertices, lines or polygons."""
    def arrays(self) -> list[tuple[str, str, int]]:
        """Group, name and number of components of each array."""
    def numbers(self) -> list[tuple[str, float]]:
        """Numbers of the whole file, by name."""
    def names(self) -> list[str]:
        """Names of walls."""
    def grid(self) -> tuple[list[float], list[float], list[int]] | None:
        """First point [m], distances of points [m] and number of points along x, y and z; None without a grid."""
    def raw_range(self, group: str, name: str) -> tuple[int, int, str] | None:
        """First byte in the file, number and NumPy type of the numbers of an array; None if they are compressed, or there is no such array."""
    def read(self, group: str, name: str) -> NDArray[Any]:
        """The numbers of an array, one after the other, in the type of the file."""

def grain_fields() -> list[tuple[str, str]]:
    """Names and SI units of all arrays of grains that `output.fields` of a scene selects."""

def read_checkpoint(folder: _Path) -> tuple[float, int, list[tuple[str, NDArray[Any]]]]:
    """Time [s], steps, and names and columns of the newest whole checkpoint in a folder, which is left as it is."""

def read_collection(path: _Path) -> list[tuple[float, str]]:
    """Times [s] and files of a `.pvd`."""

def read_table(path: _Path) -> list[tuple[str, NDArray[Any]]]:
    """Headers and columns of a table of numbers. Columns of whole numbers are integers."""

# ---------------------------------------------------------------- sweep

@type_check_only
class SweepOptions(TypedDict):
    settings: list[tuple[str, str]]
    sample: str | None
    sample_seed: int
    device: str | None
    precision: str | None
    jobs: int | None
    threads: int | None
    gpus: int | None
    average_from: float

@final
class SweepPlan:
    """The points of a sweep, whose values are checked."""

    def __new__(cls, scene: Scene, vary: Sequence[tuple[str, str | Sequence[str]]], options: SweepOptions) -> Self: ...
    @property
    def points(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Names and settings of the points, in order."""
    def run(self, folder: _Path, program: Sequence[str], show: Callable[[int, int, int, int, float], None] | None) -> None:
        """Runs the points that are not finished in a folder. `program` starts the command line; `show` receives the numbers of points, of those that are
        finished, running and failed, and of those that are done, with shares.
        """

# ---------------------------------------------------------------- command

def main(arguments: list[str]) -> int:
    """Runs a command line, its first word being the name of the program, and returns the exit code."""
