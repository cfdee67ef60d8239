"""Scenes: load, make, edit, check, save."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ._grains import GrainsNames
from ._keys import SECTIONS, Section, language, parts, read, remove, write
from ._seixo import Scene as SceneText
from ._seixo import scene_templates, scene_text

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._runs import Run

StrPath = str | os.PathLike[str]


@dataclass(frozen=True)
class Check:
    """What a check of a scene finds; as text it is what `seixo check` prints."""

    title: str
    """Title of the scene."""
    grains: int
    """Number of grains at the start."""
    fluid_particles: int
    """Number of fluid particles at the start."""
    time_step: float
    """Time step [s]."""
    time_step_limit: float
    """Largest stable time step [s]."""
    time_step_cause: str
    """Cause of the limit."""
    until: float
    """Simulated time at the end of the run [s]."""
    steps: int
    """Number of steps of the run."""
    memory: int
    """Memory at the start [bytes]."""
    device: str
    """Name of the device that would compute."""
    precision: str
    """Precision: `"f64"`, `"mixed"` or `"f32"`."""
    threads: int
    """Number of threads of the CPU."""
    estimated_time: float | None
    """Wall time of the run, from its first steps [s]; None if unknown. The least time if `values["time_is_lower_bound"]`."""
    notices: list[str]
    """Notes on the scene; none of them is an error."""
    values: dict[str, Any] = field(repr=False)
    """All of it, as `seixo check --json` prints it."""
    text: str = field(repr=False)
    """All of it, as `seixo check` prints it."""

    def __str__(self) -> str:
        return self.text


class RunSection(Section):
    """Settings of the run, `scene.run.until`; called, it runs the scene: `scene.run("out/base")`."""

    __slots__ = ()

    def __call__(
        self,
        out: StrPath | None = None,
        *,
        device: str | None = None,
        precision: str | None = None,
        threads: int | None = None,
        domains: int | None = None,
        gpus: int | None = None,
        until: float | str | None = None,
        overwrite: bool = False,
        set: Mapping[str, object] | None = None,
        progress: bool | Callable[[dict[str, Any]], object] = True,
    ) -> Run:
        """Runs the scene into a folder, to its end, and returns the run.

        out: folder, by default NAME.out in the current folder for NAME.toml. device, precision, threads, domains, gpus, until
        [s]: in place of those of the scene. overwrite: whether an earlier run there may be removed. set: further values by
        dotted paths, for this run only. progress: whether a line of progress is shown on terminals and in notebooks; or a
        function that gets each progress and event as a dictionary.

        Ctrl-C writes a checkpoint and raises KeyboardInterrupt; `seixo.resume` goes on, bit for bit. Raises SceneError, RunError
        and FileError.
        """
        from ._runs import Changes, run_scene

        changes = Changes(device, precision, threads, domains, gpus, until, set)
        return run_scene(cast(Scene, self._scene), out, changes, overwrite, progress)


class Scene(SceneText):
    """A scene: the text of a scene file, edited by the names of its keys.

    Sections are attributes: `scene.run.until = "2 s"`, `scene.wall["lid"].mesh`, `scene["interaction.sand-sand.friction"] = 0.3`. A
    misspelled key raises UnknownKeyError, a wrong value SceneError, both at once and with the advice of the command line. Comments
    and order of the text survive.
    """

    # Files in the temporary folder, by the keys that name them.
    _tables: dict[tuple[str, ...], Path]
    _folder: tempfile.TemporaryDirectory[str] | None

    def __init__(self, text: str = "", path: StrPath | None = None) -> None:
        object.__setattr__(self, "_tables", {})
        object.__setattr__(self, "_folder", None)

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """Reads a scene file. Raises SceneError with all errors of single keys; `check` finds the others."""
        return cls(scene_text(os.fspath(path)), path)

    @classmethod
    def from_text(cls, text: str, path: StrPath | None = None) -> Self:
        """A scene from TOML; `path` is for messages, and files in it are relative to its folder."""
        return cls(text, path)

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Self:
        """A scene from nested dictionaries with texts, numbers, bools, lists and arrays. Files are relative to the current folder."""
        scene = cls("", "<dict>")
        for key, value in values.items():
            write(scene, (key,), value)
        return scene

    @classmethod
    def template(cls, name: str) -> Self:
        """A commented scene to start from; `seixo.templates()` lists them.

        The files that it reads lie in a temporary folder that lives as long as the scene and its copies; saved scenes and runs get copies.
        """
        found = [one for one in scene_templates() if one[0] == name]
        if not found:
            raise ValueError(f"there is no template {name!r}; there are: {', '.join(templates())}")
        (_, _, _, text, beside) = found[0]
        if not beside:
            return cls(text, f"{name}.toml")
        folder = tempfile.TemporaryDirectory(prefix="seixo-")
        for file, content in beside:
            Path(folder.name, file).write_text(content, encoding="utf-8")
        scene = cls(text, Path(folder.name, f"{name}.toml"))
        object.__setattr__(scene, "_folder", folder)
        for file, _ in beside:
            for key in _keys_with(scene.to_dict(), file):
                scene.keep_table(key, Path(folder.name, file))
        return scene

    @property
    def run(self) -> RunSection:
        """Settings of the run; called, it runs the scene into a folder."""
        return RunSection(self, ("run",))

    @property
    def grains(self) -> GrainsNames:
        """Groups of grains by name; `grains.add` takes arrays."""
        return GrainsNames(self, ("grains",))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return read(self, (name,))

    def __setattr__(self, name: str, value: object) -> None:
        write(self, (name,), value)

    def __delattr__(self, name: str) -> None:
        remove(self, (name,))

    def __getitem__(self, key: str) -> Any:
        return read(self, parts(key))

    def __setitem__(self, key: str, value: object) -> None:
        write(self, parts(key), value)

    def __delitem__(self, key: str) -> None:
        remove(self, parts(key))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(self.kind_at(list(parts(key))))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *language(()).keys})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scene) and self.to_toml() == other.to_toml()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        title = self.title
        return f"<Scene {self.path}{f': {title}' if title else ''}>"

    def __str__(self) -> str:
        return self.to_toml()

    def keys(self) -> list[str]:
        """The sections that the scene has, in the order of its text."""
        return self.keys_at([])

    def to_dict(self) -> dict[str, Any]:
        """A copy as nested dictionaries, without defaults."""
        return cast("dict[str, Any]", self.value_at([]))

    def copy(self) -> Self:
        """A copy that is edited on its own."""
        twin = type(self)(self.to_toml(), self.path)
        object.__setattr__(twin, "_tables", dict(self._tables))
        object.__setattr__(twin, "_folder", self._folder)
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        tables = {key: (path.suffix, path.read_bytes()) for key, path in self._tables.items() if self._reads(key, path)}
        return _received, (type(self), self.to_toml(), self.path, tables)

    def _reads(self, key: tuple[str, ...], path: Path) -> bool:
        """Whether this file still stands at the key: it may have another value by now, or the path of the scene another folder."""
        named = self.value_at(list(key)) if self.kind_at(list(key)) else None
        return isinstance(named, str) and Path(self.path).parent / named == path

    def check(self) -> Check:
        """Checks units, geometry, overlaps, time step and stages, as `seixo check`; takes half a second of trial steps.

        Raises SceneError with all errors.
        """
        text, values = self.findings()
        found = json.loads(values)
        return Check(
            fluid_particles=sum(size for _, size in found["fluids"]),
            values=found,
            text=text,
            **{
                name: found[name]
                for name in (
                    "title",
                    "grains",
                    "time_step",
                    "time_step_limit",
                    "time_step_cause",
                    "until",
                    "steps",
                    "memory",
                    "device",
                    "precision",
                    "threads",
                    "estimated_time",
                    "notices",
                )
            },
        )

    def save(self, path: StrPath) -> None:
        """Writes the scene as TOML. Tables of `grains.add` and files of a template are written beside it; other relative paths are then relative
        to its folder."""
        path = Path(path)
        _replace(path, self.with_tables(path.with_suffix(""), is_relative=True)[0].to_toml())

    def new_table(self, group: str, suffix: str = ".csv") -> Path:
        """A new file for the grains of a group, or for what else stands at such a key, in the temporary folder that the scene shares with its copies."""
        if self._folder is None:
            object.__setattr__(self, "_folder", tempfile.TemporaryDirectory(prefix="seixo-"))
        assert self._folder is not None
        handle, path = tempfile.mkstemp(prefix=f"{group}-", suffix=suffix, dir=self._folder.name)
        os.close(handle)
        return Path(path)

    def keep_table(self, key: tuple[str, ...], path: Path) -> None:
        """Remembers a temporary file that stands at a key: runs and saved scenes get a copy."""
        self._tables[key] = path

    def with_tables(self, stem: Path, *, is_relative: bool = False) -> tuple[Scene, list[Path]]:
        """A copy whose temporary files lie beside `stem`, named after the table of their key and their content; and the files that this made."""
        scene, made = self.copy(), list[Path]()
        for key, path in self._tables.items():
            if not self._reads(key, path):
                continue
            digest = blake2b(path.read_bytes(), digest_size=4).hexdigest()
            target = stem.with_name(f"{stem.name}.{key[-2]}-{digest}{path.suffix}")
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                made.append(target)
            write(scene, key, target.name if is_relative else str(target.absolute()))
        return scene, made


def _received(kind: type[Scene], text: str, path: Path, tables: Mapping[tuple[str, ...], tuple[str, bytes]]) -> Scene:
    """A scene that was pickled, with temporary files of its own."""
    scene = kind(text, path)
    for key, (suffix, content) in tables.items():
        table = scene.new_table(key[-2], suffix)
        table.write_bytes(content)
        write(scene, key, str(table))
        scene.keep_table(key, table)
    return scene


def templates() -> dict[str, str]:
    """Scenes to start from: names for `Scene.template`, and what each is about."""
    return {name: about for name, _, about, _, _ in scene_templates()}


def _keys_with(value: object, text: str) -> Iterator[tuple[str, ...]]:
    """The keys, and indices in lists, of nested dictionaries at which this text stands."""
    if value == text:
        yield ()
    inside: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        inside = cast("dict[object, object]", value).items()
    elif isinstance(value, list):
        inside = enumerate(cast("list[object]", value))
    for key, inner in inside:
        for below in _keys_with(inner, text):
            yield (str(key), *below)


def _replace(path: Path, text: str) -> None:
    """Writes a file completely or not at all."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


SECTIONS[("run",)] = RunSection
SECTIONS[("grains",)] = GrainsNames
