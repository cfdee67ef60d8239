"""What a simulation shows of one step, as NumPy arrays."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ._arrays import data_frame, split
from ._names import UnknownNameError, no_attribute, unknown
from ._tables import named

Floats = NDArray[np.float64]
Whole = NDArray[np.uint32]
Ids = NDArray[np.int64]

_UNIT = re.compile(r" \[([^\[\]]*)\]$")


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """The array, which cannot be written to any more: it is shared by all that look at the same step."""
    array.flags.writeable = False
    return array


class Columns:
    """Arrays with a row for each particle, bond or contact: `grains.position`, or `grains["position"]`."""

    def _arrays(self) -> dict[str, NDArray[Any]]:
        values: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}
        arrays: dict[str, NDArray[Any]] = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return {**arrays, **values.get("scalars", {})}

    def _called(self) -> str:
        return type(self).__name__.lower()

    def keys(self) -> list[str]:
        """Names of the arrays."""
        return list(self._arrays())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> Any:
        arrays = self._arrays()
        if name in arrays:
            return arrays[name]
        raise UnknownNameError(str(no_attribute(f"the {self._called()}", str(name), arrays)))

    # Type checkers would let every name pass.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Python looks for such names on its own.
            if name.startswith("_"):
                raise AttributeError(name)
            arrays = self._arrays()
            if name in arrays:
                return arrays[name]
            raise no_attribute(f"the {self._called()}", name, arrays)

    def _table(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {}
        count = len(cast(Any, self))
        for name, values in self._arrays().items():
            # Orientations are left out where there are none.
            if len(values) == count:
                columns.update(split(name, values))
        return columns

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` with a row for each particle, bond or contact; vectors in columns `…_x`, `…_y`, `…_z`."""
        return data_frame("pandas", self._table())

    def to_polars(self) -> Any:
        """A `polars.DataFrame` with the columns of `to_pandas()`."""
        return data_frame("polars", self._table())


@dataclass(frozen=True, eq=False, repr=False)
class Grains(Columns):
    """All grains at one step, in the order of their ids. Arrays are copies that cannot be written to; use `.copy()` for one that can."""

    id: Whole
    """Ids, ascending (n)."""
    position: Floats
    """Centers [m] (n, 3)."""
    velocity: Floats
    """Velocities [m/s] (n, 3)."""
    angular_velocity: Floats
    """Angular velocities [rad/s] (n, 3)."""
    force: Floats
    """Forces of contacts, bonds, loads and fluids, without gravity [N] (n, 3)."""
    torque: Floats
    """Torques of the same forces about the centers [N m] (n, 3)."""
    radius: Floats
    """Radii [m] (n)."""
    mass: Floats
    """Masses [kg] (n)."""
    volume: Floats
    """Volumes [m^3] (n): of polyhedral grains those of their shapes, else those of their spheres."""
    material: Whole
    """Indices into `sim.materials` (n)."""
    group: Whole
    """Indices into `sim.groups` (n)."""
    body: Ids
    """Ids of the rigid bodies that carry them, -1 for free grains (n)."""
    coordination: Whole
    """Numbers of grains and wall elements in contact (n)."""
    orientation: Floats
    """Orientations, unit quaternions w x y z (n, 4): of polyhedral grains from the shape as drawn, of spheres of a body those of its principal
    axes; (0, 4) in a scene of free spheres without bonds, until a stage holds some."""
    scalars: Mapping[str, Floats]
    """Scalars that grains carry, by name: `temperature` [K], `film_thickness` [m] (n)."""

    def __len__(self) -> int:
        return len(self.id)

    def __repr__(self) -> str:
        return f"<{len(self)} grains>"


@dataclass(frozen=True, eq=False, repr=False)
class Fluid(Columns):
    """All fluid particles at one step, in the order of their ids; without fluids there are none."""

    id: Whole
    """Ids, ascending (n)."""
    kind: Whole
    """Indices into `names` (n)."""
    position: Floats
    """Positions [m] (n, 3)."""
    velocity: Floats
    """Velocities [m/s] (n, 3)."""
    density: Floats
    """Densities [kg/m^3] (n)."""
    pressure: Floats
    """Pressures [Pa] (n)."""
    names: tuple[str, ...]
    """Names of the fluids."""

    def __len__(self) -> int:
        return len(self.id)

    def __repr__(self) -> str:
        return f"<{len(self)} particles of {', '.join(self.names) or 'no fluid'}>"


@dataclass(frozen=True, eq=False, repr=False)
class Bonds(Columns):
    """All intact bonds at one step, in the order in which they were made."""

    kind: Whole
    """Indices of their sections in the scene (n)."""
    i: Whole
    """Ids of their first grains (n)."""
    j: Whole
    """Ids of their second grains (n)."""
    ends: Floats
    """Centers of the first grains, and of the nearest images of the second [m] (n, 2, 3)."""
    force: Floats
    """Forces on the second grains [N] (n, 3)."""
    tension: Floats
    """Elastic axial forces, positive in tension [N] (n)."""
    shear: Floats
    """Elastic forces perpendicular to the axes [N] (n)."""
    bending: Floats
    """Larger bending moments of their two ends [N m] (n)."""
    torsion: Floats
    """Torsion moments [N m] (n)."""
    energy: Floats
    """Elastic energies [J] (n)."""
    utilization: Floats
    """Loads over strengths [-] (n)."""

    def __len__(self) -> int:
        return len(self.i)

    def __repr__(self) -> str:
        return f"<{len(self)} bonds>"


@dataclass(frozen=True, eq=False, repr=False)
class Contacts(Columns):
    """All contacts with force at one step, each once, in the order of ids."""

    i: Ids
    """Ids of their grains; of two grains the smaller id (n)."""
    j: Ids
    """Ids of their partners; for a wall, -1 minus its index into `wall` (n)."""
    point: Floats
    """Contact points [m] (n, 3)."""
    normal: Floats
    """Unit normals from the partner j to the grain i (n, 3)."""
    branch: Floats
    """Vectors from the center of j, or from the nearest point of the wall, to the center of i [m] (n, 3)."""
    force: Floats
    """Forces on i; those on j are opposite [N] (n, 3)."""
    overlap: Floats
    """Overlaps [m] (n)."""
    wall: tuple[str, ...] = field(default=())
    """Names of the walls, by index."""

    def __len__(self) -> int:
        return len(self.i)

    def __repr__(self) -> str:
        return f"<{len(self)} contacts>"


@dataclass(frozen=True, eq=False)
class Stress:
    """Mean stress in a region [Pa], positive in compression, as probes log it. Component [a, b] is of forces along a over branches along b."""

    contact: Floats
    """Of contacts and bonds (3, 3)."""
    kinetic: Floats
    """Of the motion relative to the mean (3, 3)."""

    @property
    def total(self) -> Floats:
        """Sum of both [Pa] (3, 3)."""
        return self.contact + self.kinetic

    @property
    def pressure(self) -> float:
        """A third of the trace of the total [Pa]."""
        return float(np.trace(self.total)) / 3.0


class Lines(Mapping[str, Floats]):
    """Lines of a probe so far: `lines["mass_flow"]` or `lines.mass_flow` is a column as an array, the time first; of gauges `lines["p1"]`."""

    def __init__(self, name: str, columns: Mapping[str, Floats]) -> None:
        self._name = name
        self._headers: dict[str, str] = {}
        self._columns: dict[str, Floats] = {}
        for header, values in columns.items():
            bare = _UNIT.sub("", header)
            bare = header if bare in self._columns else bare
            self._columns[bare] = sealed(values)
            self._headers[bare] = header

    def __getitem__(self, name: str) -> Floats:
        column = named(name, self._headers)
        if column is not None:
            return self._columns[column]
        raise unknown(f"column of probe {self._name}", name, self._columns)

    def __getattr__(self, name: str) -> Floats:
        # Python looks for such names on its own, also before there are columns, as when it copies.
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __contains__(self, name: object) -> bool:
        return named(name, self._headers) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of columns."""
        return len(self._columns)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, without units."""
        return list(self._columns)

    @property
    def units(self) -> dict[str, str]:
        """SI unit of each column; empty for pure numbers."""
        found = {bare: _UNIT.search(header) for bare, header in self._headers.items()}
        return {bare: "" if unit is None or unit[1] == "-" else unit[1] for bare, unit in found.items()}

    @property
    def last(self) -> dict[str, float]:
        """The last line, by column; empty before the first line."""
        return {name: float(values[-1]) for name, values in self._columns.items() if len(values)}

    def to_pandas(self, units: bool = False) -> Any:
        """A `pandas.DataFrame`. With `units` the names of its columns have them: `mass_flow [kg/s]`."""
        return self._frame("pandas", units)

    def to_polars(self, units: bool = False) -> Any:
        """A `polars.DataFrame`. With `units` the names of its columns have them: `mass_flow [kg/s]`."""
        return self._frame("polars", units)

    def _frame(self, package: str, units: bool) -> Any:
        try:
            frames = importlib.import_module(package)
        except ImportError as error:
            raise ImportError(
                f"{package} is not installed; install it with `pip install {package}`, or use the arrays of this probe"
            ) from error
        named = {self._headers[bare] if units else bare: values.copy() for bare, values in self._columns.items()}
        return cast(Any, frames).DataFrame(named)

    def __repr__(self) -> str:
        rows = next((len(values) for values in self._columns.values()), 0)
        return f"<probe {self._name}: {rows} lines of {', '.join(self._columns)}>"
