"""Runs of a scene over several values of its keys."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from ._seixo import Scene, SweepPlan

Value = str | bool | int | float
Column = NDArray[Any]

# Columns that are texts, also where all of them look like numbers.
_TEXTS = ("point", "state", "reason")
# Columns that are numbers, also where no point has one.
_NUMBERS = ("time", "wall_time")
_UNIT = re.compile(r" \[([^\[\]]*)\]$")
_WHOLE = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class SweepPoint:
    """A point of a sweep."""

    name: str
    """Digest of its settings."""
    values: dict[str, Value]
    """The varied keys, with numbers where they have no unit: `{"run.seed": 1, "grains.bed.radius": "2 mm"}`."""
    folder: Path
    """Its run folder, for `seixo.open`."""
    state: str = "waiting"
    """`waiting`, `running`, `finished`, `interrupted` or `failed`."""
    reason: str = ""
    """Why it failed."""


class SweepResults:
    """Settings and results of all points of a sweep, from its folder, also while it runs or if it was run by `seixo sweep`.

    Columns of probes have the words of conditions: `outlet.mass_flow` is the last value of the column `mass_flow` of the probe `outlet`, and
    `outlet.mass_flow_mean` its mean over time.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Reads the results in the folder of a sweep.

        Raises FileNotFoundError if it has none.
        """
        self.folder = Path(folder)
        """Folder of the sweep."""
        with open(self.folder / "sweep.csv", encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        with open(self.folder / "sweep.json", encoding="utf-8") as file:
            plan = json.load(file)
        self.table: dict[str, Column] = {}
        """Columns, with a row for each point; numbers that a point does not have are NaN."""
        self.units: dict[str, str] = {}
        """Units of the columns that have one."""
        self._headers: dict[str, str] = {}
        for text, cells in zip(header, zip(*rows)):
            unit = _UNIT.search(text)
            name = text[: unit.start()] if unit else text
            name = text if name in self.table else name
            self.table[name] = _column(name, cells)
            self._headers[name] = text
            if unit:
                self.units[name] = unit[1]
        states = zip(plan["points"], self.table["state"], self.table["reason"])
        self.points: list[SweepPoint] = [
            SweepPoint(point["name"], _values(point["settings"]), self.folder / point["name"], str(state), str(reason))
            for point, state, reason in states
        ]
        """The points, in the order of the rows."""

    @property
    def failures(self) -> list[SweepPoint]:
        """The points that failed, each with its `reason`."""
        return [point for point in self.points if point.state == "failed"]

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        finished = sum(point.state == "finished" for point in self.points)
        return f"<sweep in {self.folder}: {finished} of {len(self)} points finished, {len(self.failures)} failed>"

    def _named(self, units: bool) -> dict[str, Column]:
        return {self._headers[name] if units else name: column for name, column in self.table.items()}

    def to_pandas(self, units: bool = False) -> Any:
        """A `pandas.DataFrame` with a row for each point. With `units` the names of its columns have them: `outlet.mass_flow [kg/s]`."""
        return import_module("pandas").DataFrame(self._named(units))

    def to_polars(self, units: bool = False) -> Any:
        """A `polars.DataFrame` with a row for each point. With `units` the names of its columns have them: `outlet.mass_flow [kg/s]`."""
        # Polars has no type for arrays of Python's texts.
        columns = {name: column.tolist() if column.dtype.kind in "OU" else column for name, column in self._named(units).items()}
        return import_module("polars").DataFrame(columns)


class Sweep:
    """A scene and the points at which it is to be run; see `seixo.sweep`."""

    def __init__(self, plan: SweepPlan, folder: Path) -> None:
        self._plan = plan
        self.folder = folder
        """Folder of the sweep."""

    @property
    def points(self) -> list[SweepPoint]:
        """The points, in order; the values of the last key change fastest."""
        return [SweepPoint(name, _values(settings), self.folder / name) for name, settings in self._plan.points]

    def __len__(self) -> int:
        return len(self._plan.points)

    def __repr__(self) -> str:
        return f"<sweep of {len(self)} points into {self.folder}>"

    def run(self, progress: bool = True) -> SweepResults:
        """Runs all points that are not finished, each as a process, and returns the results of all. `progress` shows a line meanwhile.

        Ctrl-C stops the points after a checkpoint. A sweep that was stopped or killed goes on when it is run again: finished points are kept,
        points under way continue from their checkpoints, and failed points are tried again. Points that fail do not stop the others; they are in
        `failures`, and a warning has their number.

        Raises ValueError if the folder holds something else, RunError if another process runs this sweep, FileError if the disk fails.
        """
        line = _ProgressLine(sys.stderr) if progress else None
        try:
            self._plan.run(self.folder, [sys.executable, "-m", "seixo"], line)
        finally:
            if line is not None:
                line.end()
        results = SweepResults(self.folder)
        missing = [point for point in results.points if point.state != "finished"]
        if missing:
            reason = next((f": {point.reason}" for point in missing if point.reason), "")
            text = f"{len(missing)} of {len(results)} points have no results{reason}; see `failures`, and run the sweep again to go on"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        return results


def sweep(
    scene: Scene | str | os.PathLike[str],
    vary: Mapping[str, object],
    out: str | os.PathLike[str],
    sample: str | int | None = None,
    jobs: int | None = None,
    *,
    settings: Mapping[str, object] | None = None,
    sample_seed: int = 1,
    device: str | None = None,
    precision: str | None = None,
    threads: int | None = None,
    gpus: int | None = None,
    average_from: float = 0.0,
) -> Sweep:
    """Plans runs of a scene at all combinations of values of its keys; `.run()` runs them.

    `vary` has a key of the scene and its values: `{"interaction.corn-corn.friction": [0.2, 0.3], "run.seed": range(3)}`. Values are numbers in SI,
    texts with a unit (`"2 mm"`), or lists of numbers for vectors. A text in place of a list is read as on the command line: `"0.1..0.9"`.

    `out` is the folder; each point has a run folder in it. `sample` draws a Latin hypercube sample of so many points, with `sample_seed`, in place of
    all combinations. `jobs` points run at the same time; default: as many as there are cores for, or 1 on a GPU. They share `threads`. With `gpus`,
    each has a GPU of its own. `settings` has values for all points, such as `{"run.until": "2 s"}`. Means of probes are taken from `average_from` [s] on.

    A scene that was changed since it was loaded is written into the folder as `scene.toml`, and the points are runs of it. Its temporary files
    (`grains.add`, templates) are copied beside the folder.

    Raises SceneError if a key or a value is wrong, ValueError if the values are not those of a sweep.
    """
    for name, count in (("jobs", jobs), ("gpus", gpus)):
        if count is not None and count < 1:
            raise ValueError(f"{name} is {count}, but at least 1 is needed; leave it out for the default")
    if jobs is not None and gpus is not None:
        raise ValueError(f"gpus={gpus} runs one point on each GPU, so jobs={jobs} has no meaning; leave one of the two out")
    if not isinstance(scene, Scene):
        scene = _loaded(scene)
    scene = _with_lasting_files(scene, Path(out))
    plan = SweepPlan(
        scene,
        [(key, _listed(key, values)) for key, values in vary.items()],
        {
            "settings": [(key, _text(key, value)) for key, value in (settings or {}).items()],
            "sample": f"lhs:{sample}" if isinstance(sample, int) else sample,
            "sample_seed": sample_seed,
            "device": device,
            "precision": precision,
            "jobs": jobs,
            "threads": threads,
            "gpus": gpus,
            "average_from": average_from,
        },
    )
    return Sweep(plan, Path(out))


def _loaded(path: str | os.PathLike[str]) -> Scene:
    # The package imports this module first.
    from . import Scene as PublicScene

    return PublicScene.load(path)


def _with_lasting_files(scene: Scene, out: Path) -> Scene:
    """The scene with copies of its temporary files beside the folder: points may be resumed when the scene is gone."""
    from . import Scene as PublicScene

    return scene.with_tables(out.absolute())[0] if isinstance(scene, PublicScene) else scene


def _listed(key: str, values: object) -> str | list[str]:
    """Values of a key as the command line has them."""
    if isinstance(values, str):
        return values
    if isinstance(values, Iterable):
        texts = [_text(key, value) for value in cast("Iterable[object]", values)]
        if not texts:
            raise ValueError(f"{key} has no value; give at least one, as in [0.2, 0.3]")
        return texts
    return [_text(key, values)]


def _text(key: str, value: object, is_inside: bool = False) -> str:
    """A value as `--set` takes it."""
    if isinstance(value, str):
        return json.dumps(value) if is_inside else value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, np.ndarray):
        return _text(key, cast("NDArray[Any]", value).tolist(), is_inside)
    if isinstance(value, os.PathLike):
        return _text(key, os.fspath(cast("os.PathLike[str]", value)), is_inside)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text(key, part, True) for part in cast("Sequence[object]", value)) + "]"
    raise TypeError(f"{key} has a value of type {type(value).__name__}; give a number, a text such as '2 mm', or a list of numbers")


def _values(settings: Iterable[Sequence[str]]) -> dict[str, Value]:
    return {key: _value(text) for key, text in settings}


def _value(text: str) -> Value:
    """A number if the text is one."""
    if text in ("true", "false"):
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _column(name: str, cells: Sequence[str]) -> Column:
    """Cells as numbers, if all that are not empty are numbers."""
    if name in _TEXTS:
        return np.array(cells, dtype=object)
    values = [_value(cell) if cell else None for cell in cells]
    known = [value for value in values if value is not None]
    if known and len(known) == len(values) and name not in _NUMBERS and len({type(value) for value in known}) == 1:
        if isinstance(known[0], (bool, int)):
            return np.array(known)
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(cells, dtype=object)


class _ProgressLine:
    """A line of progress that overwrites itself, on a terminal or in a notebook."""

    _WIDTH = 20

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # Notebooks return to the beginning of a line, too, but are no terminals.
        self._is_shown = stream.isatty() or "ipykernel" in sys.modules
        self._last = ""

    def __call__(self, points: int, finished: int, running: int, failed: int, done: float) -> None:
        """Shows the numbers of points, of those that are finished, running and failed, and of those that are done, with shares."""
        share = done / points if points else 1.0
        bar = "━" * round(self._WIDTH * share)
        text = f"{bar:{self._WIDTH}} {100 * share:3.0f} %  {finished} of {points} points finished · {running} running · {failed} failed"
        if self._is_shown and text != self._last:
            self._stream.write(f"\r{text:{len(self._last)}}")
            self._stream.flush()
            self._last = text

    def end(self) -> None:
        """Leaves the line."""
        if self._last:
            self._stream.write("\n")
            self._stream.flush()
