"""Arrays of one part of a frame, each read from its file at first use."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._names import UnknownNameError, suggestion
from ._seixo import FileError, FrameFile, grain_fields, read_collection

Array = NDArray[Any]


@dataclass(frozen=True)
class Part:
    """What a frame can have: its files, what its rows are, and how a scene asks for it."""

    name: str
    folder: str
    ending: str
    # Name of the array of its points.
    points: str
    # Whether a row is a point; else it is a line or a polygon.
    has_point_rows: bool
    absent: str


_ADD = "to the scene and run it"
_SET = "under [output] in the scene and run it"

PARTS = {
    part.name: part
    for part in (
        Part("grains", "fields", "vtp", "position", True, f"add a section [grains.NAME] {_ADD}"),
        Part("fluid", "fields", "vtp", "position", True, f"add a section [fluid.NAME] {_ADD}"),
        Part("surface", "fields", "vtp", "vertices", True, f"set surface = true {_SET}"),
        Part("bodies", "fields", "vtp", "vertices", False, f"add bodies from a mesh {_ADD}"),
        Part("walls", "fields", "vtp", "vertices", False, f"add a section [wall.NAME] {_ADD}"),
        Part("bonds", "fields", "vtp", "ends", False, f"add a section [bonds.NAME] {_ADD}"),
        Part("contacts", "contacts", "vtp", "ends", False, f"set contacts = true {_SET}"),
        Part("coarse", "coarse", "vti", "position", True, f"set coarse {_SET}"),
    )
}

_UNITS = {
    "position": "m",
    "vertices": "m",
    "ends": "m",
    "radius": "m",
    "spacing": "m",
    "overlap": "m",
    "wear_depth": "m",
    "worn_volume": "m³",
    "normal_force": "N",
    "tangential_force": "N",
    "tension": "N",
    "shear": "N",
    "bending": "N m",
    "torsion": "N m",
    "energy": "J",
    "density": "kg/m³",
    "contact_stress": "Pa",
    "kinetic_stress": "Pa",
    **{f"periodic_{what}_{axis}": "m" for what in ("min", "length") for axis in "xyz"},
    **{f"periodic_rate_{axis}": "m/s" for axis in "xyz"},
    **dict(grain_fields()),
}

# Names of a running simulation, and those of the files that have the same.
_OTHER_NAMES = {"fluid": {"kind": "fluid"}, "bonds": {"i": "first", "j": "second"}, "contacts": {"i": "a"}}

# Files have whole numbers for these.
_FLAGS = {"is_wall", "is_in_chain"}
_AXES = ("x", "y", "z")
_TENSOR = tuple(a + b for a in _AXES for b in _AXES)


def optional_module(name: str) -> ModuleType:
    """pandas or polars, which the package does not require."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"{name} is not installed; install it (pip install {name}), or use the NumPy arrays themselves"
        raise ModuleNotFoundError(message, name=name) from None


def data_frame(module: str, columns: dict[str, Array]) -> Any:
    """A DataFrame of pandas or polars."""
    # Copies, as pandas would take over arrays that are read-only.
    return optional_module(module).DataFrame({name: np.array(values) for name, values in columns.items()})


class Arrays:
    """Arrays of one part of a frame: `frame.grains.position`, or `frame.grains["position"]`.

    An array is read from its file when it is first used, and only that array; arrays of raw frames (`output.encoding`) are mapped from
    the file into memory instead. It has the type of the file, is read-only (`.copy()` can be changed), and its first axis counts grains,
    particles, bonds, contacts or polygons; `len()` is their number.
    Contacts, bonds and fluid also have the names that they have in a running simulation: `i`, `j` and `kind`.
    A part that the frame does not have is empty and false: `if frame.fluid: …`. Raises FileError if the file of a part is lost or broken.
    """

    def __init__(self, part: Part, path: Path, of_frame: str) -> None:
        self._part = part
        self._path = path
        self._of_frame = of_frame
        self._opened: FrameFile | None = None
        self._sources: dict[str, tuple[str, str, int]] = {}
        self._constants: dict[str, float] = {}
        self._arrays: dict[str, Array] = {}

    def _file(self) -> FrameFile | None:
        if self._opened is None:
            if not self._path.exists():
                self._refuse_if_lost()
                return None
            opened = FrameFile(self._path)
            sources = {
                name: (group, stored, components)
                for group, stored, components in opened.arrays()
                if (name := self._name_of(group, stored)) is not None
            }
            first = ("id", self._part.points)
            self._sources = {name: sources[name] for name in sorted(sources, key=lambda name: (name not in first, name != "id"))}
            self._constants = {name: value for name, value in opened.numbers() if name != "TimeValue"}
            self._opened = opened
        return self._opened

    def _refuse_if_lost(self) -> None:
        """FileError if the run wrote the file: a part that is lost is not one that was never there."""
        listed = self._path.with_name(f"{self._part.name}.pvd")
        if listed.exists() and any(Path(file).name == self._path.name for _, file in read_collection(listed)):
            raise FileError(f"{self._path}: the run wrote it, as {listed} says, but it is missing; put the file back, or run the scene again")

    def _name_of(self, group: str, stored: str) -> str | None:
        if group == "Points":
            return self._part.points
        if group == "Polys":
            # Walls have polygons with any number of corners, one after the other; surfaces have triangles.
            names = {"offsets": "offsets"} if self._part.name == "walls" else {"connectivity": "triangles"}
            return names.get(stored)
        return None if group in ("Verts", "Lines") else stored

    def _partner(self) -> Array:
        """Partners of contacts as a running simulation numbers them: walls as -1 minus their index."""
        index: NDArray[np.int64] = self["b"].astype(np.int64)
        partner: Array = np.where(self["is_wall"], -1 - index, index)
        partner.flags.writeable = False
        return partner

    def _read(self, name: str) -> Array:
        file = self._file()
        assert file is not None
        group, stored, components = self._sources[name]
        values = self._mapped(file, group, stored)
        if values is None:
            values = file.read(group, stored)
        if name == "triangles":
            values = values.reshape(-1, 3)
        elif name == "ends":
            values = values.reshape(-1, 2, 3)
        elif components > 1:
            values = values.reshape((-1, 3, 3) if components == 9 else (-1, components))
        if name in _FLAGS:
            values = values.astype(np.bool_)
        values.flags.writeable = False
        return values

    def _mapped(self, file: FrameFile, group: str, stored: str) -> Array | None:
        """An array as it is in the file; None if it is compressed there, or empty, as nothing cannot be mapped."""
        place = file.raw_range(group, stored)
        if place is None or place[1] == 0:
            return None
        offset, count, of_type = place
        try:
            # The file of a frame is never changed: a run that replaces it makes a new one.
            return np.asarray(np.memmap(self._path, dtype=of_type, mode="r", offset=offset, shape=(count,)))
        except (OSError, ValueError):
            # Removed or replaced in the meantime, or a file system that does not map: reading says what is wrong.
            return None

    def _missing(self, name: str) -> str:
        if self._file() is None:
            return f"{self._of_frame} has no {self._part.name}, and no {name!r} of them; {self._part.absent}"
        known = self.keys() + list(self._constants)
        message = f"the {self._part.name} of {self._of_frame} have no array {name!r}; they have {', '.join(known)}"
        fields = [field for field, _ in grain_fields()]
        if self._part.name == "grains" and name in fields:
            return f'{message}; add "{name}" to fields (output.fields) {_SET} again'
        return message + suggestion(name, known + fields if self._part.name == "grains" else known)

    def __getitem__(self, name: str) -> Any:
        if self._file() is not None:
            if name in self._arrays:
                return self._arrays[name]
            if name in self._sources:
                return self._arrays.setdefault(name, self._read(name))
            if name in self._constants:
                return self._constants[name]
            if self._part.name == "contacts" and name == "j":
                return self._arrays.setdefault(name, self._partner())
            other = _OTHER_NAMES.get(self._part.name, {}).get(name)
            if other is not None:
                return self[other]
        raise UnknownNameError(self._missing(name))

    def __getattr__(self, name: str) -> Any:
        # Python looks for such names on its own, also before there is a part, as when it copies.
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __len__(self) -> int:
        file = self._file()
        if file is None:
            return 0
        return file.points if self._part.has_point_rows else file.cells

    def __contains__(self, name: object) -> bool:
        return self._file() is not None and (name in self._sources or name in self._constants)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """Names of the arrays."""
        return list(self._sources) if self._file() is not None else []

    @property
    def constants(self) -> dict[str, float]:
        """Numbers that are one for the whole part, by name, such as the `spacing` of fluid particles [m]."""
        self._file()
        return dict(self._constants)

    @property
    def names(self) -> list[str]:
        """Names of the walls, in the order of the indices in `wall`."""
        file = self._file()
        return file.names() if file is not None else []

    @property
    def units(self) -> dict[str, str]:
        """SI unit of each array; empty for pure numbers."""
        return {name: _UNITS.get(name, "") for name in [*self.keys(), *self.constants]}

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.keys(), *self.constants})

    def __repr__(self) -> str:
        if self._file() is None:
            return f"<no {self._part.name} in {self._of_frame}>"
        return f"<{len(self)} {self._part.name} of {self._of_frame}: {', '.join(self.keys())}>"

    def _columns(self) -> dict[str, Array]:
        """The arrays with a value for each row, in columns of single numbers."""
        groups = ("PointData", "Points") if self._part.has_point_rows else ("CellData",)
        columns: dict[str, Array] = {}
        for name in self.keys():
            if self._sources[name][0] in groups or name == "ends":
                columns.update(split(name, self[name]))
        return columns

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a row for each grain, particle, bond, contact or polygon; vectors in columns `…_x`, `…_y`, `…_z`."""
        return data_frame("pandas", self._columns())

    def to_polars(self) -> Any:
        """A `polars.DataFrame` with the columns of `to_pandas()`."""
        return data_frame("polars", self._columns())


def split(name: str, values: Array) -> dict[str, Array]:
    """The columns of an array with a row for each particle."""
    if values.ndim == 1:
        return {name: values}
    if name == "ends":
        return {f"{name}_{end}_{axis}": values[:, end, k] for end in (0, 1) for k, axis in enumerate(_AXES)}
    # The number of columns is known without rows, too.
    flat = values.reshape(len(values), prod(values.shape[1:]))
    endings = {3: _AXES, 4: ("w", *_AXES)}.get(flat.shape[1], _TENSOR)
    return {f"{name}_{ending}": flat[:, k] for k, ending in enumerate(endings)}


class Grid(Arrays):
    """Fields at the points of a regular grid. Their first three axes are x, y and z: `coarse.pressure[i, j, k]`."""

    def _grid(self) -> tuple[list[float], list[float], list[int]]:
        file = self._file()
        grid = file.grid() if file is not None else None
        return grid if grid is not None else ([0.0] * 3, [0.0] * 3, [0] * 3)

    def _read(self, name: str) -> Array:
        values = super()._read(name)
        x, y, z = self.shape
        # In the file x runs fastest.
        return values.reshape(z, y, x, *values.shape[1:]).swapaxes(0, 2)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of points along x, y and z."""
        x, y, z = self._grid()[2]
        return x, y, z

    @property
    def origin(self) -> Array:
        """The first point [m], shape (3,)."""
        return np.array(self._grid()[0])

    @property
    def spacing(self) -> Array:
        """Distances of neighboring points along x, y and z [m], shape (3,)."""
        return np.array(self._grid()[1])

    @property
    def axes(self) -> tuple[Array, Array, Array]:
        """Coordinates of the points along x, y and z [m]."""
        x, y, z = (start + step * np.arange(count) for start, step, count in zip(*self._grid()))
        return x, y, z

    def _columns(self) -> dict[str, Array]:
        places = np.meshgrid(*self.axes, indexing="ij")
        columns: dict[str, Array] = {axis: place.ravel() for axis, place in zip(_AXES, places)}
        for name in self.keys():
            values = self[name]
            columns.update(split(name, values.reshape(-1, *values.shape[3:])))
        return columns
