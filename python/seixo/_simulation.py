"""Simulations that a program steps."""

from __future__ import annotations

import itertools
import json
import operator
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._measured import measured, shown, vector
from ._names import Strict, unknown
from ._seixo import Condition, Multiples, Scene, quantity_in
from ._seixo import Simulation as Steps
from ._simulation_arrays import Bonds, Contacts, Floats, Fluid, Grains, Lines, Stress, Whole, sealed
from ._simulation_parts import Bodies, Group, Named, Wall

Overrides = Mapping[str, object]
_Function = TypeVar("_Function", bound="Callable[[Simulation], object]")
_Result = TypeVar("_Result")
_Shown = TypeVar("_Shown")

_NO_END = 2**63
# Units of the scalars that grains may carry.
_SCALARS = {"temperature": "K", "film_thickness": "m"}
_numbers = itertools.count()


class _Callback:
    """A function that is called at some steps."""

    def __init__(self, function: Callable[..., object], at_or_after: Callable[[int], int], step: int) -> None:
        self.function = function
        self.at_or_after = at_or_after
        self.next_step = at_or_after(step)


class Simulation(Strict, Steps):
    """A scene that a program steps itself: `sim = sx.Simulation(scene)`, `sim.step(100)`, `sim.run(until="2 s")`.

    Stages, inlets, zones and probes act at the same steps as in a run. No file is written, except checkpoints. `scene` may be the path of a scene
    file. `device`, `precision`, `threads`,
    `domains` and `gpus` are those of the command line; `set` has other values for keys of the scene, as in `set={"run.seed": 7}`. `checkpoint` is
    the file that is written when a callback fails.

    All values are in SI units. Arrays are copies, taken once a step.

    Raises SceneError if the scene or a value in `set` is wrong, RunError if the device is not there.
    """

    _what = "simulations"

    groups: tuple[str, ...]
    """Names of the groups of grains; `sim.grains.group` has their indices."""
    materials: tuple[str, ...]
    """Names of the materials; `sim.grains.material` has their indices."""
    emergency_checkpoint: Path
    """File that is written when a callback fails."""

    def __new__(
        cls,
        scene: Scene | str | os.PathLike[str],
        device: str | None = None,
        precision: str | None = None,
        threads: int | None = None,
        domains: int | None = None,
        gpus: int | None = None,
        set: Overrides | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Simulation:
        if isinstance(scene, (str, os.PathLike)):
            from ._scene import Scene as SceneOfFile

            scene = SceneOfFile.load(scene)
        self = super().__new__(cls, scene, _overrides(set, device, precision, threads, domains, gpus))
        self._prepare(checkpoint)
        return self

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        device: str | None = None,
        precision: str | None = None,
        threads: int | None = None,
        domains: int | None = None,
        gpus: int | None = None,
        set: Overrides | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Simulation:
        """Goes on from a file that `checkpoint` wrote, or from the newest checkpoint of a run folder, with the same bits as without the stop.

        Callbacks are not stored; add them again. Raises FileError or RunError if there is no whole checkpoint, SceneError if a
        value in `set` is wrong.
        """
        overrides = _overrides(set, device, precision, threads, domains, gpus)
        self = Steps.__new__(cls, None, overrides, os.fspath(path))
        self._prepare(checkpoint)
        return self

    def _prepare(self, checkpoint: str | os.PathLike[str] | None) -> None:
        names = self._names()
        self.groups = tuple(names["groups"])
        self.materials = tuple(names["materials"])
        self._walls: tuple[str, ...] = tuple(names["walls"])
        self._fluids: tuple[str, ...] = tuple(names["fluids"])
        self._probes: list[str] = names["probes"]
        self._stresses: list[str] = names["stresses"]
        self._callbacks: list[_Callback] = []
        self._is_stepping = False
        self._events: list[dict[str, Any]] = []
        self._shown: dict[str, tuple[int, Any]] = {}
        temporary = Path(tempfile.gettempdir()) / f"seixo-{os.getpid()}-{next(_numbers)}.checkpoint"
        self.emergency_checkpoint = temporary if checkpoint is None else Path(checkpoint)

    # Steps

    def step(self, n: int = 1) -> int:
        """Takes `n` steps; returns how many were taken. There are fewer only if the condition of the last stage ends the run.

        Ctrl-C raises KeyboardInterrupt between two steps; the simulation can go on. Raises RunError if a step cannot be taken, such as with an
        overlap above `run.overlap_limit`, BufferError while arrays of `hold()` are in use, and what a callback raises.
        """
        steps = _whole(n, "the number of steps")
        if steps < 0:
            raise ValueError(f"{steps} steps cannot be taken; give a number from 0 on")
        return self._take(steps, None)

    def run(self, until: float | str | None = None) -> None:
        """Steps to the end of the scene, to a time, a number in s or as in "2 s", or until a condition holds.

        A condition has the words of a stage's `until`: "time > 2 s or probe.core.strain_zz > 0.15". It may hold after the end of the scene.
        Raises SceneError if it cannot be read, ValueError for a text that is no time and for a time that has passed or has no end, and what `step`
        raises.
        """
        if until is None:
            self._take(max(self.steps_at_end - self.steps, 0), None)
        elif isinstance(until, str) and until.strip()[:1] not in tuple("+-.0123456789"):
            self._take(_NO_END, self._condition(until))
        else:
            end = _seconds(until, "the end of a run")
            if not end / self.time_step < _NO_END:
                raise ValueError(f"a run until {end} s has no end; give a time, or a condition as in until=\"time > 2 s\"")
            steps = _nearest(end / self.time_step) - self.steps if np.isfinite(end) else -1
            if steps < 0:
                raise ValueError(f"a run until {end:.6g} s would go back: it is {self.time:.6g} s now; give a later time")
            self._take(steps, None)

    def _take(self, steps: int, until: Condition | None) -> int:
        if self._is_stepping:
            raise RuntimeError("this simulation is being stepped; a callback cannot step it, but may read and change it")
        self._is_stepping = True
        try:
            if not self._callbacks:
                return self._advance(steps, until)[0]
            taken = 0
            now = self.steps
            while taken < steps:
                self._call_due(now)
                due = min((callback.next_step for callback in self._callbacks), default=_NO_END)
                asked = min(steps - taken, due - now)
                done, is_over = self._advance(asked, until)
                taken += done
                now += done
                if is_over:
                    break
            return taken
        finally:
            self._is_stepping = False

    def _call_due(self, now: int) -> None:
        """Calls the functions that are due before the step that follows, in the order in which they were added."""
        while due := [callback for callback in self._callbacks if callback.next_step <= now]:
            for callback in due:
                # A function that fails is not called again at this step, so that steps can go on.
                callback.next_step = callback.at_or_after(now + 1)
                if callback not in self._callbacks:
                    continue
                try:
                    callback.function(self)
                except Exception as error:
                    _add_note(error, self._save_for(callback, error))
                    raise

    def _save_for(self, callback: _Callback, error: BaseException) -> str:
        name = getattr(callback.function, "__qualname__", repr(callback.function))
        failed = f"callback {name} failed at {self.time:.6g} s, step {self.steps}"
        try:
            self.checkpoint(self.emergency_checkpoint)
        except Exception as refusal:
            return f"{failed}; no checkpoint could be written: {refusal}"
        return f"{failed}; go on with seixo.Simulation.resume({str(self.emergency_checkpoint)!r})"

    # Callbacks

    @overload
    def every(
        self, interval: float | str | None = None, function: None = None, *, steps: int | None = None
    ) -> Callable[[_Function], _Function]: ...

    @overload
    def every(
        self, interval: float | str | None, function: Callable[[Simulation], _Result], *, steps: int | None = None
    ) -> Callable[[Simulation], _Result]: ...

    def every(
        self,
        interval: float | str | None = None,
        function: Callable[[Simulation], Any] | None = None,
        *,
        steps: int | None = None,
    ) -> Any:
        """Calls a function with the simulation at the steps nearest to the multiples of a time, a number in s or as in "0.1 ms", or of a number of steps.

        As a decorator, `@sim.every("0.1 ms")`, or as a call, `sim.every("0.1 ms", function)`. It is called before the step, first at time zero. It may
        read and change the simulation, but not step it. If it raises an exception, stepping ends: the state is written to
        `sim.emergency_checkpoint`, and the exception goes on with a note that names it. Returns the function. Raises ValueError if the interval is
        not positive, TypeError if the steps are no whole number or the function cannot be called.
        """
        if (interval is None) == (steps is None):
            raise ValueError('give either a time, as in sim.every("0.1 ms"), or a number of steps, as in sim.every(steps=20)')
        if function is not None and not callable(function):
            raise TypeError(f"{function!r} cannot be called; give a function, as in sim.every(\"0.1 ms\", function)")
        at_or_after: Callable[[int], int]
        if steps is not None:
            between = _whole(steps, "the number of steps between two calls")
            if between < 1:
                raise ValueError(f"a function cannot be called every {between} steps; give a number from 1 on")

            def multiple(step: int) -> int:
                return -(-step // between) * between

            at_or_after = multiple
        else:
            seconds = _seconds(interval if interval is not None else 0.0, "the time between two calls")
            if not (np.isfinite(seconds) and seconds > 0.0):
                raise ValueError(f"a function cannot be called every {seconds} s; give a positive time")
            at_or_after = Multiples(seconds, self.time_step).at_or_after

        def add(called: _Function) -> _Function:
            self._callbacks.append(_Callback(called, at_or_after, self.steps))
            return called

        return add if function is None else add(function)

    def cancel(self, function: Callable[..., object]) -> None:
        """Does not call this function any more. LookupError if it is not called."""
        kept = [callback for callback in self._callbacks if callback.function is not function]
        if len(kept) == len(self._callbacks):
            raise LookupError(f"{function!r} is not called by this simulation; sim.every adds a function")
        self._callbacks = kept

    # What is seen at this step

    def _seen(self, name: str, look: Callable[[], _Shown]) -> _Shown:
        # Other threads may step meanwhile. The version is read first, so that a later look is never taken for one of this step.
        version = self._version
        entry = self._shown.get(name)
        if entry is None or entry[0] != version:
            for other, (old, _) in list(self._shown.items()):
                if old != version:
                    self._shown.pop(other, None)
            entry = (version, look())
            self._shown[name] = entry
        return entry[1]

    @property
    def grains(self) -> Grains:
        """All grains, in the order of their ids: `sim.grains.position` and others."""
        return self._seen("grains", lambda: Grains(**_sealed(self._grain_arrays())))

    @property
    def fluid(self) -> Fluid:
        """All fluid particles, in the order of their ids."""
        return self._seen("fluid", lambda: Fluid(**_sealed(self._fluid_arrays()), names=self._fluids))

    @property
    def bonds(self) -> Bonds:
        """All intact bonds, in the order in which they were made."""
        return self._seen("bonds", lambda: Bonds(**_sealed(self._bond_arrays())))

    def _wall_table(self) -> dict[str, NDArray[Any]]:
        """All walls of the engine as arrays, in their order; `sim.wall` shows one."""
        return self._seen("walls", self._wall_arrays)

    def _body_table(self) -> dict[str, NDArray[Any]]:
        """All rigid bodies as arrays; `sim.body` shows one."""
        return self._seen("bodies", self._body_arrays)

    def contacts(self, walls: bool = False) -> Contacts:
        """All contacts with force between grains, and with `walls` also those of grains with walls."""
        look = lambda: Contacts(**_sealed(self._contact_arrays(walls)), wall=self._walls)  # noqa: E731
        return self._seen(f"contacts {walls}", look)

    def stress(self, region: str | Mapping[str, Any] | None = None) -> Stress | None:
        """Mean stress in a region [Pa], positive in compression: the same as a probe of stress logs.

        `region` is the name of such a probe of the scene, or a region in its words: `{"min": …, "max": …}`, `{"center": …, "radius": …}` or
        `{"from": …, "to": …, "radius": …}`, with lengths in m or as in "2 cm". Without it, the region is the smallest box around all grains; along
        periodic axes the whole cell. None once the body that carries the region of a probe has left. Raises KeyError for a name of no such probe,
        ValueError for a region that cannot be read.
        """
        if isinstance(region, str):
            if region not in self._stresses:
                raise unknown("probe of stress", region, self._stresses)
            found = self._stress_in("probe", region, [])
        elif region is None:
            found = self._stress_in("all", "", [])
        else:
            found = self._stress_in(*_region(region))
        if found is None:
            return None
        contact, kinetic = np.array(found).reshape(2, 3, 3)
        return Stress(contact=contact, kinetic=kinetic)

    # Parts by name

    @property
    def wall(self) -> Named[Wall]:
        """Walls by name: `sim.wall["lid"].velocity = [0, 0, -0.1]`."""
        sections = list(dict.fromkeys(name.partition(".")[0] for name in self._walls))
        names = list(dict.fromkeys([*sections, *self._walls]))

        def make(name: str) -> Wall:
            indices = [index for index, wall in enumerate(self._walls) if wall == name or wall.startswith(f"{name}.")]
            return Wall(self, name, indices)

        return Named("wall", names, make)

    @property
    def body(self) -> Bodies:
        """Rigid bodies, by id or by the name of a group with one body: `sim.body["scoop"].velocity = [0.1, 0, 0]`."""
        return Bodies(self)

    @property
    def group(self) -> Named[Group]:
        """Groups of grains by name: `sim.group["sample"].force = [0, 0, -10]`."""
        return Named("group", list(self.groups), lambda name: Group(self, name, self.groups.index(name)))

    @property
    def probe(self) -> Named[Lines]:
        """Lines of the probes so far: `sim.probe["outlet"]["mass_flow"]`, `sim.probe["outlet"].last`, `sim.probe["outlet"].to_pandas()`."""
        return Named("probe", self._probes, lambda name: Lines(name, self._probe_columns(name) or {}))

    # Changes

    @property
    def gravity(self) -> Floats:
        """Gravitational acceleration [m/s^2] (3); setting it holds from now on."""
        return shown(self._gravity_now())

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._set_gravity(vector(value, "gravity", "m/s^2"))

    def insert(
        self,
        position: ArrayLike,
        radius: ArrayLike,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        material: str | int | Sequence[str] | ArrayLike | None = None,
        group: str | int | Sequence[str] | ArrayLike | None = None,
        id: ArrayLike | None = None,
        mass: ArrayLike | None = None,
        **scalars: ArrayLike,
    ) -> Whole:
        """Adds grains, which may touch nothing; returns their ids (n). Texts carry units, as in `radius="4 mm"`.

        `position` [m] is (n, 3) or (3); one value in place of n holds for all: `radius` [m], `velocity` [m/s], `angular_velocity` [rad/s], `mass` [kg].
        `material` and `group` are names or indices; the only one of the scene if left out. Scalars, such as `temperature` [K], are for scenes
        whose grains carry them.

        Of each material, radii may be from the smallest to the largest one of the grains at the start and of those that an inlet or a later group of the
        scene announces: cells and time step are chosen for these. With a given `mass`, grains must not be lighter than those.

        Raises KeyError for an unknown name, ValueError for wrong shapes, and SceneError if grains touch something, or if
        their ids or radii are wrong.
        """
        places = np.atleast_2d(measured(position, "m"))
        if places.ndim != 2 or places.shape[1] != 3:
            raise ValueError(f"`position` has the shape {places.shape}, must be (n, 3)")
        count = len(places)
        ids = self._insert_grains(
            np.ascontiguousarray(places),
            _column(radius, count, "radius", "m"),
            _rows(velocity, count, "velocity", "m/s"),
            _rows(angular_velocity, count, "angular_velocity", "rad/s"),
            _indices(material, count, "material", self.materials),
            _indices(group, count, "group", self.groups),
            None if id is None else _ids(id, count),
            None if mass is None else _column(mass, count, "mass", "kg"),
            {name: _column(values, count, name, _SCALARS.get(name, "")) for name, values in scalars.items()},
        )
        return np.array(ids, dtype=np.uint32)

    def remove(self, which: ArrayLike) -> None:
        """Removes grains, by a mask in the order of `sim.grains.id` (n) or by ids. A rigid body goes as a whole with each of its grains.

        Raises ValueError for a mask of another shape, and for an id that no grain has.
        """
        chosen, known = np.asarray(which), self.grains.id
        if chosen.dtype == np.bool_:
            if chosen.shape != known.shape:
                raise ValueError(f"the mask has the shape {chosen.shape}, must be {known.shape}: one value for each grain of sim.grains")
            chosen = known[chosen]
        absent = np.setdiff1d(chosen, known)
        if absent.size:
            raise ValueError(f"there is no grain {absent[0]}; take the ids of the present grains from sim.grains.id")
        self._remove_grains(_ids(chosen, chosen.size))

    # Results

    @property
    def ledger(self) -> dict[str, float]:
        """The energy ledger [J]: energies now, such as `kinetic`, and transfers since time zero, such as `friction`."""
        return self._ledger_terms()

    @property
    def events(self) -> list[dict[str, Any]]:
        """What happened so far: stages, inlets that fall behind, changes by this program; each with `event`, `time` [s] and `steps`."""
        self._events += [json.loads(line) for line in self._new_events()]
        return list(self._events)

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Ends all callbacks, and frees the arrays of this step."""
        self._callbacks.clear()
        self._shown.clear()

    def __repr__(self) -> str:
        stage = f", stage {self.stage}" if self.stage else ""
        return f"<simulation {self.title!r}: {len(self)} grains at {self.time:.6g} s, step {self.steps}{stage}, on {self.device} in {self.precision}>"


def _overrides(
    given: Overrides | None,
    device: str | None,
    precision: str | None,
    threads: int | None,
    domains: int | None,
    gpus: int | None,
) -> list[tuple[str, str]]:
    keys = {"device": device, "precision": precision, "threads": threads, "domains": domains, "gpus": gpus}
    asked: dict[str, object] = {f"run.{key}": value for key, value in keys.items() if value is not None}
    return [(key, _toml(value)) for key, value in {**(given or {}), **asked}.items()]


def _toml(value: Any) -> str:
    """A value as after `--set key=`: words as they are, other values in TOML."""
    return value if isinstance(value, str) else _toml_item(value)


def _toml_item(value: Any) -> str:
    if isinstance(value, bool | str):
        return json.dumps(value)
    if isinstance(value, np.ndarray | np.generic):
        return _toml_item(value.tolist())
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_item, cast(Sequence[Any], value)))}]"
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Any], value).items()
        return f"{{ {', '.join(f'{key} = {_toml_item(item)}' for key, item in items)} }}"
    return repr(value)


def _whole(value: Any, what: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, not {value!r}") from None


def _nearest(steps: float) -> int:
    """The nearest whole number, halves up, as for the end of a scene."""
    whole = int(np.floor(steps))
    return whole + int(steps - whole >= 0.5)


def _seconds(value: float | str, what: str) -> float:
    seconds = quantity_in(value, "s") if isinstance(value, str) else float(value)
    if np.isnan(seconds):
        raise ValueError(f"{what} is not a number")
    return seconds


def _meters(value: Any) -> list[float]:
    values = [value] if isinstance(value, str) or np.ndim(value) == 0 else list(value)
    return [quantity_in(item, "m") if isinstance(item, str) else float(item) for item in values]


def _region(region: Mapping[str, Any]) -> tuple[str, str, list[float]]:
    """A region in the words of a scene, with or without the word for its kind."""
    kinds = {"box": ("min", "max"), "sphere": ("center", "radius"), "cylinder": ("from", "to", "radius")}
    given = region
    if len(region) == 1 and next(iter(region)) in kinds:
        given = next(iter(region.values()))
    for kind, keys in kinds.items():
        if sorted(keys) == sorted(given):
            numbers = [_meters(given[key]) for key in keys]
            if all(len(found) == (1 if key == "radius" else 3) for key, found in zip(keys, numbers, strict=True)):
                if kind == "box" and not all(low < high for low, high in zip(*numbers, strict=True)):
                    raise ValueError(f"{dict(region)!r} is no box: `min` must be below `max` along x, y and z")
                return kind, "", [number for found in numbers for number in found]
    raise ValueError(
        f'{dict(region)!r} is not a region; write {{"min": [x, y, z], "max": [x, y, z]}}, {{"center": …, "radius": …}} or '
        '{"from": …, "to": …, "radius": …}'
    )


def _sealed(arrays: dict[str, Any]) -> dict[str, Any]:
    for name, value in arrays.items():
        columns = cast(dict[str, NDArray[Any]], value).values() if name == "scalars" else [value]
        for column in columns:
            sealed(column)
    return arrays


def _column(values: ArrayLike, count: int, what: str, unit: str) -> Floats:
    numbers = measured(values, unit)
    try:
        return np.ascontiguousarray(np.broadcast_to(numbers, (count,)))
    except ValueError:
        raise ValueError(
            f"`{what}` has the shape {np.shape(values)}, must be ({count},): one value for each grain, or one for all"
        ) from None


def _rows(values: ArrayLike, count: int, what: str, unit: str) -> Floats:
    numbers = measured(values, unit)
    try:
        return np.ascontiguousarray(np.broadcast_to(numbers, (count, 3)))
    except ValueError:
        raise ValueError(
            f"`{what}` has the shape {np.shape(values)}, must be ({count}, 3): one vector for each grain, or one for all"
        ) from None


def _ids(values: ArrayLike, count: int) -> Whole:
    numbers = np.asarray(values).reshape(-1)
    if numbers.size == 0:
        numbers = numbers.astype(np.uint32)
    if numbers.shape != (count,) or numbers.dtype.kind not in "iu":
        raise ValueError(f"ids must be {count} whole numbers, not an array of {numbers.dtype} with the shape {numbers.shape}")
    if numbers.size and (numbers.min() < 0 or numbers.max() > np.iinfo(np.uint32).max):
        raise ValueError(f"ids must be from 0 to {np.iinfo(np.uint32).max}")
    return np.ascontiguousarray(numbers, dtype=np.uint32)


def _indices(given: Any, count: int, what: str, names: tuple[str, ...]) -> Whole:
    """Indices of names, from names or indices, one or one for each grain."""
    if given is None:
        if len(names) != 1:
            raise ValueError(f"the scene has {len(names)} {what}s, so new grains need one: `{what}`, one of {', '.join(names)}")
        given = 0
    listed = [given] if isinstance(given, str) else np.atleast_1d(np.asarray(given)).tolist()
    found: list[int] = []
    for one in listed:
        if isinstance(one, str):
            if one not in names:
                raise unknown(what, one, names)
            found.append(names.index(one))
        elif isinstance(one, int) and 0 <= one < len(names):
            found.append(one)
        else:
            raise ValueError(f"{one!r} is no {what}; give a name, or an index from 0 to {len(names) - 1}")
    if len(found) not in (1, count):
        raise ValueError(f"`{what}` has {len(found)} values for {count} grains; give one, or one for each")
    return np.ascontiguousarray(np.broadcast_to(np.array(found, dtype=np.uint32), (count,)))


def _add_note(error: BaseException, note: str) -> None:
    """As `add_note`, also in Python 3.10, whose tracebacks do not show notes."""
    notes = [*getattr(error, "__notes__", []), note]
    setattr(error, "__notes__", notes)
