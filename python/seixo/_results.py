"""Results of a run, read from its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ._arrays import Array
from ._frames import Frames
from ._seixo import FileError, read_checkpoint
from ._tables import Probes, Table

if TYPE_CHECKING:
    from . import Scene

_NO_RUN = "is not a run folder (it has no run.json); name the folder of a run: seixo run SCENE makes SCENE.out"
# All that is read once and kept.
_KEPT = ("frames", "probe", "ledger", "exchange", "breaks", "fragments", "profile", "trace", "log", "scene")


class Checkpoint(Mapping[str, Array]):
    """Arrays of a checkpoint by name, as the program stores them; for other programs the frames are the better source."""

    def __init__(self, time: float, steps: int, columns: list[tuple[str, Array]]) -> None:
        self.time = time
        """Time [s]."""
        self.steps = steps
        """Number of completed steps."""
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Array:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<checkpoint at {self.time:.6g} s, step {self.steps}: {len(self)} arrays>"


class Results:
    """Results of a run. Nothing but `run.json` is read before it is used.

    Of a run that still goes on, `refresh()` sees what was added.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        """Folder of the run."""
        self._record = self._read_record()

    def _read_record(self) -> dict[str, Any]:
        path = self.folder / "run.json"
        if self.folder.is_file():
            raise FileError(f"{self.folder}: this is a file, not a run folder; name the folder of a run: seixo run SCENE makes SCENE.out")
        if not path.exists():
            raise FileError(f"{self.folder}: {_NO_RUN}")
        record = _json(path, _text(path))
        if not isinstance(record, dict):
            raise FileError(f"{path}: this is no record of a run; put the file back as the run left it")
        return cast("dict[str, Any]", record)

    def refresh(self) -> Results:
        """Sees what a run has added to its folder since it was opened. Frames and tables that are in use stay as they are."""
        self._record = self._read_record()
        for name in _KEPT:
            self.__dict__.pop(name, None)
        return self

    @property
    def record(self) -> dict[str, Any]:
        """The record of the run (`run.json`): version, title, time step, stages, result, speed."""
        return self._record

    @property
    def title(self) -> str:
        """Title of the scene."""
        return str(self._record.get("title", ""))

    @property
    def result(self) -> str:
        """`running` (also after a kill), `finished`, `interrupted` or `failed`."""
        return str(self._record.get("result", ""))

    def _names(self, of: str) -> list[str]:
        return [str(name) for name in self._record.get(of, [])]

    @property
    def groups(self) -> list[str]:
        """Names of the sections `[grains.*]`, in the order of the numbers in `frame.grains.group`."""
        return self._names("groups")

    @property
    def materials(self) -> list[str]:
        """Names of the materials, in the order of the numbers in `frame.grains.material`."""
        return self._names("materials")

    @property
    def fluids(self) -> list[str]:
        """Names of the fluids, in the order of the numbers in `frame.fluid.fluid`."""
        return self._names("fluids")

    @cached_property
    def frames(self) -> Frames:
        """Frames in the order of time."""
        return Frames.of(self.folder, float(self._record.get("time_step", {}).get("value", 0.0)))

    @cached_property
    def probe(self) -> Probes:
        """Tables of the probes, by name."""
        return Probes(self.folder)

    @cached_property
    def ledger(self) -> Table:
        """The energy ledger over time, with a column for each term [J]."""
        return Table(self.folder / "energies.csv", "it is written once the run has begun")

    @cached_property
    def exchange(self) -> Table:
        """Number and mass [kg] of what inlets added, and zones and outlets removed, since the start."""
        return Table(self.folder / "exchange.csv", "only scenes with inlets, zones or outlets have it")

    @cached_property
    def breaks(self) -> Table:
        """Broken bonds, in the order of breaking; `breaks.codes` has the words for the numbers of `kind` and `mode`."""
        return Table(self.folder / "bonds.csv", "only scenes with a section [bonds.NAME] have it")

    @cached_property
    def fragments(self) -> Table:
        """Fragments of bonded grains at the newest checkpoint, heaviest first."""
        return Table(self.folder / "fragments.csv", "only scenes with a section [bonds.NAME] have it, once a checkpoint is written")

    @cached_property
    def profile(self) -> Table:
        """Seconds per pass: `pass`, `seconds`, `share`, `calls`."""
        return Table(self.folder / "profile.csv", "it is written with checkpoints and at the end of the run", has_text=True)

    @cached_property
    def trace(self) -> Table:
        """Passes of CPU and GPU over time [s], of a run on both."""
        return Table(self.folder / "trace.csv", "only runs on CPU and GPU at the same time have it", has_text=True)

    @cached_property
    def log(self) -> list[dict[str, Any]]:
        """Events of the run, a dictionary for each; `event` says what happened."""
        path = self.folder / "log.jsonl"
        text = _text(path) if path.exists() else ""
        # A last line without an end is still being written.
        lines = text.split("\n")[:-1]
        return [cast("dict[str, Any]", _json(path, line, number)) for number, line in enumerate(lines, start=1)]

    @cached_property
    def scene(self) -> Scene:
        """The scene of the run with all defaults."""
        from . import Scene

        return Scene.load(self.folder / "scene.toml")

    def checkpoint(self) -> Checkpoint:
        """The newest whole checkpoint. It is read at each call. FileError if there is none."""
        return Checkpoint(*read_checkpoint(self.folder / "checkpoints"))

    def resume(self, **options: Any) -> Any:
        """Continues the run from its newest checkpoint: `seixo.resume(self.folder, **options)`."""
        from . import resume

        return resume(self.folder, **options)

    def __repr__(self) -> str:
        return f"<run {self.folder}, {self.result} at {float(self._record.get('time', 0.0)):.6g} s: {self.title}>"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: cannot read it: {error.strerror}; check the path and the permissions") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: this is not a text file; put the file back as the run left it") from error


def _json(path: Path, text: str, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = error.lineno if line is None else line
        raise FileError(f"{path}:{place}: {error.msg} in column {error.colno}; put the file back as the run left it") from error


def open(folder: str | os.PathLike[str]) -> Results:
    """Opens the folder of a run, also of one that still goes on.

    ```python
    out = sx.open("silo.out")
    out.frames[-1].grains.position      # (n, 3) [m]
    out.probe["outlet"].to_pandas().plot("time", "mass_flow")
    ```

    FileError if the folder is not one of a run.
    """
    return Results(folder)
