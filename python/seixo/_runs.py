"""Runs into folders: start, resume, look."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ._keys import plain
from ._progress import Reporter
from ._seixo import RunError, folder_of_scene, resume_folder
from ._seixo import run_scene as run_into

if TYPE_CHECKING:
    from ._frames import Frames
    from ._results import Results
    from ._scene import Scene
    from ._simulation import Simulation
    from ._tables import Probes, Table

StrPath = str | os.PathLike[str]
Progress = bool | Callable[[dict[str, Any]], object]


def toml(value: object) -> str:
    """A value as TOML, for an override of a scene."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(toml(item) for item in cast('list[object]', value))}]"
    if isinstance(value, dict):
        entries = [f"{json.dumps(key)} = {toml(inner)}" for key, inner in cast("dict[str, object]", value).items()]
        return f"{{ {', '.join(entries)} }}"
    return repr(value)


@dataclass(frozen=True)
class Changes:
    """Values of a scene that one run has in place of those of its text."""

    device: str | None = None
    precision: str | None = None
    threads: int | None = None
    domains: int | None = None
    gpus: int | None = None
    until: float | str | None = None
    set: Mapping[str, object] | None = None

    def overrides(self) -> list[tuple[str, str]]:
        """Dotted paths and values as TOML, in the order of the command line."""
        named = ("device", "precision", "threads", "domains", "gpus", "until")
        given = [(f"run.{name}", getattr(self, name)) for name in named]
        return [(path, toml(value)) for path, value in [*(self.set or {}).items(), *given] if value is not None]


class Run:
    """A run in its folder: its record, its log, and what it wrote."""

    def __init__(self, folder: StrPath) -> None:
        self.folder = Path(folder)
        """Folder of the run."""

    @property
    def record(self) -> dict[str, Any]:
        """The record of the run, `run.json`: result, device, time step, times."""
        return json.loads((self.folder / "run.json").read_text(encoding="utf-8"))

    @property
    def events(self) -> list[dict[str, Any]]:
        """The log of the run, `log.jsonl`: starts, stages, checkpoints, notices, the end."""
        lines = (self.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    @cached_property
    def results(self) -> Results:
        """All that the run wrote, as `seixo.open` gives it."""
        from ._results import Results

        return Results(self.folder)

    @property
    def probe(self) -> Probes:
        """Tables of the probes by name: `run.probe["outlet"].to_pandas()`."""
        return self.results.probe

    @property
    def frames(self) -> Frames:
        """Frames of the run in order of time."""
        return self.results.frames

    @property
    def ledger(self) -> Table:
        """Table of the energy ledger over time."""
        return self.results.ledger

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        record = self.record
        return f"<Run {self.folder}: {record['result']}, t = {record['time']:.6g} s, {record['steps']} steps>"


def run_scene(scene: Scene, out: StrPath | None, changes: Changes, overwrite: bool, progress: Progress) -> Run:
    """Runs a scene into a folder."""
    folder = Path(folder_of_scene(os.fspath(scene.path)) if out is None else out)
    prepared, made = scene.with_tables(folder.absolute())
    reporter = Reporter(progress)
    try:
        run_into(prepared, str(folder), changes.overrides(), overwrite, reporter)
    except BaseException as error:
        _drop_unused(made, folder / "scene.toml")
        if isinstance(error, RunError):
            error.args = (_in_words_of_python(str(error), folder),)
        raise
    finally:
        reporter.close()
    return Run(folder)


# Remedies of the command line that have another name here.
_REMEDIES = {
    "name another folder with --out": "give another folder as `out`",
    "name a folder on another disk with --out": "give a folder on another disk as `out`",
    "name another one with --out": "give another one as `out`",
    "remove it and start again with --force": "remove it and start again with `overwrite=True`",
    "start again in this folder with --force": "start again in this folder with `overwrite=True`",
}


def _in_words_of_python(text: str, folder: Path) -> str:
    text = text.replace(f"`seixo resume {folder}`", f"`seixo.resume({str(folder)!r})`")
    for words, ours in _REMEDIES.items():
        text = text.replace(words, ours)
    return text


def _drop_unused(made: list[Path], scene: Path) -> None:
    """Removes tables for a run that did not begin."""
    text = scene.read_text(encoding="utf-8") if scene.exists() else ""
    for path in made:
        if path.name not in text:
            path.unlink(missing_ok=True)


def resume(
    path: StrPath,
    *,
    device: str | None = None,
    precision: str | None = None,
    threads: int | None = None,
    domains: int | None = None,
    gpus: int | None = None,
    until: float | str | None = None,
    set: Mapping[str, object] | None = None,
    moved: Mapping[StrPath, StrPath] | None = None,
    progress: Progress = True,
) -> Run | Simulation:
    """Goes on where a run or a simulation stopped, with the same bits as without the stop.

    path: the folder of a run, which is resumed from its newest checkpoint and runs to its end; or a file that
    `Simulation.checkpoint` wrote, which gives a Simulation to step. device, precision, threads, domains, gpus, until [s]: in place
    of those of the scene. set: values by dotted paths from here on, of keys that say nothing of the past of the run. moved: old and
    new paths of files that the scene names. progress: as of a run.

    Ctrl-C writes a checkpoint and raises KeyboardInterrupt. Raises SceneError, RunError and FileError.
    """
    changes = Changes(device, precision, threads, domains, gpus, until, set)
    if os.path.isfile(path):
        given = [name for name, value in {**vars(changes), "moved": moved}.items() if value is not None]
        if given:
            raise ValueError(f"a simulation resumes from a file as it is; leave out: {', '.join(given)}")
        from ._simulation import Simulation

        return Simulation.resume(path)
    reporter = Reporter(progress)
    ways = [(os.path.abspath(old), os.path.abspath(new)) for old, new in (moved or {}).items()]
    try:
        resume_folder(os.fspath(path), changes.overrides(), ways, reporter)
    finally:
        reporter.close()
    return Run(path)
