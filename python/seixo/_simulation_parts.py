"""Walls, rigid bodies and groups of a simulation, by the names of the scene."""

# These classes belong to the class Simulation, and use what it hides from others.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._measured import Floats, Vector, shown, vector
from ._names import Strict, unknown
from ._simulation_arrays import Whole

if TYPE_CHECKING:
    from ._simulation import Simulation

_Part = TypeVar("_Part", covariant=True)


def _three(values: NDArray[np.float64]) -> Vector:
    return (float(values[0]), float(values[1]), float(values[2]))


class Wall(Strict):
    """A wall of a running simulation. A box is one wall, and each of its faces is one, too: `sim.wall["tank"]`, `sim.wall["tank.bottom"]`.

    Vectors are set as a whole, of numbers or texts with units: `[0, 0, "-1 mm/s"]`. Others raise ValueError.
    """

    __slots__ = ("_indices", "_simulation", "name")
    _what = "walls"

    def __init__(self, simulation: Simulation, name: str, indices: list[int]) -> None:
        self._simulation = simulation
        self._indices = indices
        self.name = name
        """Name in the scene."""

    def _of(self, column: str) -> NDArray[np.float64]:
        return self._simulation._wall_table()[column][self._indices]

    @property
    def velocity(self) -> Floats:
        """Velocity [m/s] (3); of a wall that turns, that of its axis. Setting it prescribes it from now on, and ends a path or servo."""
        return shown(self._of("velocity")[0])

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        self.move(velocity=value)

    @property
    def angular_velocity(self) -> Floats:
        """Angular velocity [rad/s] (3). Setting it prescribes it from now on, about the axis that the wall has."""
        return shown(self._of("angular_velocity")[0])

    @angular_velocity.setter
    def angular_velocity(self, value: ArrayLike) -> None:
        self.move(angular_velocity=value)

    def move(
        self,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        about: ArrayLike | None = None,
    ) -> None:
        """Prescribes velocity [m/s] and angular velocity [rad/s] from now on, about a point of the axis [m]; what is left out stays as it is."""
        given = None if velocity is None else vector(velocity, f"the velocity of wall {self.name}", "m/s")
        turning = None if angular_velocity is None else vector(angular_velocity, f"the angular velocity of wall {self.name}", "rad/s")
        point = None if about is None else vector(about, f"a point of the axis of wall {self.name}", "m")
        if given is not None and turning is not None:
            self._simulation._move_wall(self.name, given, turning, point)
            return
        # Faces of a box may differ in what is left out.
        kept: dict[tuple[Vector, Vector], list[str]] = {}
        for index, old, old_turning in zip(self._indices, self._of("velocity"), self._of("angular_velocity"), strict=True):
            motion = (given or _three(old), turning or _three(old_turning))
            kept.setdefault(motion, []).append(self._simulation._walls[index])
        if len(kept) == 1:
            kept = {motion: [self.name] for motion in kept}
        for motion, names in kept.items():
            for name in dict.fromkeys(names):
                self._simulation._move_wall(name, *motion, point)

    @property
    def position(self) -> Floats:
        """Middle [m] (3), as the probe `wall_position` logs it; of a box, the mean of those of its faces."""
        return shown(self._of("position").mean(axis=0))

    @property
    def angle(self) -> float:
        """Angle of rotation since the start [rad]."""
        return float(self._of("angle")[0])

    @property
    def force(self) -> Floats:
        """Force of grains and fluids on the wall [N] (3)."""
        return shown(self._of("force").sum(axis=0))

    @property
    def torque(self) -> Floats:
        """Torque of grains and fluids on the wall about its axis, or about the origin for a wall without one [N m] (3)."""
        return shown(self._of("torque").sum(axis=0))

    @property
    def power(self) -> float:
        """Power that grains and fluids supply to the wall [W]; negative where the wall drives them."""
        return float(self._of("power").sum())

    @property
    def there(self) -> bool:
        """Whether the wall exists. Setting it makes the wall appear or vanish."""
        return bool(self._of("there").all())

    @there.setter
    def there(self, value: bool) -> None:
        self._simulation._set_wall_there(self.name, bool(value))

    @property
    def servo_target(self) -> float | None:
        """What its servo sets: a force [N], a stress [Pa] or a torque [N m]; None for a wall without servo. Setting it there raises RunError."""
        target = float(self._of("servo_target")[0])
        return None if np.isnan(target) else target

    @servo_target.setter
    def servo_target(self, value: float) -> None:
        if isinstance(value, str):
            raise ValueError(f"the target of wall {self.name} cannot be a text, {value!r}; give a number in N, Pa or N m, as servo_target reads")
        self._simulation._set_servo_target(self.name, float(value))

    def __repr__(self) -> str:
        return f"<wall {self.name}>"


class Body(Strict):
    """A rigid body of a running simulation.

    It raises LookupError once the body has left. Vectors are set as a whole, of numbers or texts with units: `[0, 0, "-1 mm/s"]`. Others raise ValueError.
    """

    __slots__ = ("_simulation", "id")
    _what = "bodies"

    def __init__(self, simulation: Simulation, id: int) -> None:
        self._simulation = simulation
        self.id = id
        """Id."""

    def _of(self, column: str) -> NDArray[np.float64]:
        table = self._simulation._body_table()
        (found,) = np.nonzero(table["id"] == self.id)
        if not len(found):
            raise LookupError(f"body {self.id} is not there any more: it left the domain or was removed")
        return table[column][found[0]]

    @property
    def position(self) -> Floats:
        """Center of mass [m] (3)."""
        return shown(self._of("position"))

    @property
    def orientation(self) -> Floats:
        """Unit quaternion w x y z, which turns the frame of its principal axes into that of space (4)."""
        return shown(self._of("orientation"))

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self._of("mass"))

    @property
    def inertia(self) -> Floats:
        """Principal moments of inertia [kg m^2] (3), about the axes of its frame, see `orientation`."""
        return shown(self._of("inertia"))

    @property
    def velocity(self) -> Floats:
        """Velocity of the center of mass [m/s] (3). Setting it gives a free body this velocity once; a body with prescribed motion keeps it from now
        on, and with it all of its group."""
        return shown(self._of("velocity"))

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        self._move(vector(value, f"the velocity of body {self.id}", "m/s"), None)

    @property
    def angular_velocity(self) -> Floats:
        """Angular velocity [rad/s] (3). Setting it acts as setting the velocity."""
        return shown(self._of("angular_velocity"))

    @angular_velocity.setter
    def angular_velocity(self, value: ArrayLike) -> None:
        self._move(None, vector(value, f"the angular velocity of body {self.id}", "rad/s"))

    def _move(self, velocity: Vector | None, angular_velocity: Vector | None) -> None:
        sim = self._simulation
        where = sim._group_of_body(self.id)
        if where is None:
            raise LookupError(f"body {self.id} is not there any more: it left the domain or was removed")
        group, is_bound = where
        velocity = velocity or _three(self.velocity)
        if is_bound:
            angular_velocity = angular_velocity or _three(self.angular_velocity)
            sim._move_group(sim.groups[group], velocity, angular_velocity)
        else:
            sim._throw_body(self.id, velocity, angular_velocity)

    @property
    def force(self) -> Floats:
        """Force of contacts, bonds, loads and fluids, without gravity [N] (3)."""
        return shown(self._of("force"))

    @property
    def torque(self) -> Floats:
        """Torque of the same about the center of mass [N m] (3)."""
        return shown(self._of("torque"))

    @property
    def wrench(self) -> Floats:
        """Force [N], then torque about the center of mass [N m] (6)."""
        return shown(np.concatenate([self._of("force"), self._of("torque")]))

    def __repr__(self) -> str:
        return f"<body {self.id}>"


class Group(Strict):
    """A group of grains of a running simulation. Vectors are set as a whole, of numbers or texts with units: `[0, 0, "-1 mm/s"]`. Others raise ValueError."""

    __slots__ = ("_index", "_simulation", "name")
    _what = "groups"

    def __init__(self, simulation: Simulation, name: str, index: int) -> None:
        self._simulation = simulation
        self._index = index
        self.name = name
        """Name in the scene."""

    def _mask(self) -> NDArray[np.bool_]:
        return np.asarray(self._simulation.grains.group == self._index)

    @property
    def ids(self) -> Whole:
        """Ids of its grains, ascending (n)."""
        return self._simulation.grains.id[self._mask()]

    @property
    def count(self) -> int:
        """Number of its grains."""
        return int(np.count_nonzero(self._mask()))

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self._simulation.grains.mass[self._mask()].sum())

    @property
    def center(self) -> Floats:
        """Center of mass [m] (3), as the probe `group_center` logs it; NaN without grains."""
        return shown(self._simulation._center_of_group(self._index))

    @property
    def force(self) -> Floats:
        """Force of contacts, bonds, loads and fluids on its grains, without gravity [N] (3). Setting it loads the group: this total force is shared
        by its grains from now on, in place of an earlier load."""
        return shown(self._simulation.grains.force[self._mask()].sum(axis=0))

    @force.setter
    def force(self, value: ArrayLike) -> None:
        self._simulation._load_group(self.name, vector(value, f"the force on group {self.name}", "N"))

    @property
    def velocity(self) -> Floats:
        """Velocity of its center of mass [m/s] (3); NaN without grains. Setting it gives all of its free grains and bodies this velocity once."""
        grains, mask = self._simulation.grains, self._mask()
        mass = grains.mass[mask]
        if not len(mass):
            return shown(np.full(3, np.nan))
        return shown(mass @ grains.velocity[mask] / mass.sum())

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        self._simulation._throw_group(self.name, vector(value, f"the velocity of group {self.name}", "m/s"))

    def hold(
        self,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        about: ArrayLike | None = None,
    ) -> None:
        """Prescribes the motion of its grains from now on: at rest, or with a velocity [m/s] and an angular velocity [rad/s] about a point [m].

        Without a point, the axis goes through their center of mass.
        """
        self._simulation._move_group(
            self.name,
            vector(velocity, f"the velocity of group {self.name}", "m/s"),
            vector(angular_velocity, f"the angular velocity of group {self.name}", "rad/s"),
            None if about is None else vector(about, f"a point of the axis of group {self.name}", "m"),
        )

    def free(self) -> None:
        """Ends the prescribed motion of its grains; they keep their velocities."""
        self._simulation._free_group(self.name)

    def __repr__(self) -> str:
        return f"<group {self.name}>"


class Named(Mapping[str, _Part], Generic[_Part]):
    """Parts of a simulation by name: `sim.wall["lid"]`, or `sim.wall.lid`."""

    __slots__ = ("_make", "_names", "_what")

    def __init__(self, what: str, names: list[str], make: Callable[[str], _Part]) -> None:
        self._what = what
        self._names = names
        self._make = make

    def __getitem__(self, name: str) -> _Part:
        if name not in self._names:
            raise unknown(self._what, name, self._names)
        return self._make(name)

    def __getattr__(self, name: str) -> _Part:
        # Python looks for such names on its own, also before there are parts, as when it copies.
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<{self._what}s: {', '.join(self._names)}>"


class Bodies:
    """Rigid bodies by id, or by the name of a group that has one body: `sim.body["scoop"]`, `sim.body[7]`."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    def __getitem__(self, name: str | int) -> Body:
        sim = self._simulation
        if not isinstance(name, str):
            if name not in self:
                raise unknown("body", int(name), [str(body.id) for body in self])
            return Body(sim, int(name))
        if name not in sim.groups:
            raise unknown("body", name, self._names())
        ids = sim._bodies_of_group(sim.groups.index(name))
        if not ids:
            raise unknown("body", name, self._names())
        if len(ids) > 1:
            shown = ", ".join(map(str, ids[:8])) + (" and more" if len(ids) > 8 else "")
            raise LookupError(f"group {name!r} has {len(ids)} bodies, {shown}; name one by its id, as in sim.body[{ids[0]}]")
        return Body(sim, ids[0])

    def _names(self) -> list[str]:
        sim = self._simulation
        return [name for index, name in enumerate(sim.groups) if sim._bodies_of_group(index)]

    def __contains__(self, id: object) -> bool:
        if isinstance(id, str):
            return id in self._names()
        return id in self._simulation._body_table()["id"].tolist()

    def __iter__(self) -> Iterator[Body]:
        return (Body(self._simulation, int(id)) for id in self._simulation._body_table()["id"])

    def __len__(self) -> int:
        return len(self._simulation._body_table()["id"])

    def __repr__(self) -> str:
        return f"<{len(self)} bodies>"
