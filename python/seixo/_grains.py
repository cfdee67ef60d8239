"""Grains of a scene from arrays: a table that the scene reads without loss."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._keys import Names, plain

if TYPE_CHECKING:
    from ._scene import Scene

# Further quantities that a table may have, with their units.
_COLUMNS = {"mass": "mass[kg]", "density": "density[kg/m^3]", "temperature": "temperature[K]", "film_thickness": "film_thickness[m]"}


def _numbers(name: str, values: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Finite numbers of this shape."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, but {shape} belongs here")
    if not np.isfinite(array).all():
        index = tuple(int(axis) for axis in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}{list(index)} is {array[index]}; give finite numbers")
    return array


class GrainsNames(Names):
    """Groups of grains: `scene.grains["bed"]`, and `scene.grains.add` for grains from arrays."""

    __slots__ = ()

    def add(
        self,
        group: str = "grains",
        *,
        position: ArrayLike,
        radius: ArrayLike | str | None = None,
        velocity: ArrayLike | Sequence[str] | None = None,
        angular_velocity: ArrayLike | Sequence[str] | None = None,
        material: str | Sequence[str] | None = None,
        id: ArrayLike | None = None,
        file: str | os.PathLike[str] | None = None,
        **keys: object,
    ) -> None:
        """Adds a group of grains from arrays, as the section `[grains.GROUP]` with a table in a file.

        position: centers, (n, 3) [m]. radius: (n,) or one for all [m]; a text carries its unit. velocity [m/s] and
        angular_velocity [rad/s]: (n, 3), or (3,) for all. material: one name, or one for each grain. id: (n,) whole numbers.
        mass [kg], density [kg/m^3], temperature [K], film_thickness [m]: (n,), or one value for all. Other keys are those of the
        section, such as `fixed=True`.

        The table lies in a temporary folder that lives as long as the scene and its copies; a run gets a copy beside its folder, as
        `OUT.GROUP-DIGEST.csv`, and a checkpoint of a simulation holds it. With `file` it is written there, relative to the folder of the scene, and stays.

        Raises ValueError for wrong shapes or numbers that are not finite, SceneError for wrong keys.
        """
        scene = cast("Scene", self._scene)
        if group in self.keys():
            raise ValueError(f"grains.{group} is there already; choose another name, or delete it first: del scene.grains[{group!r}]")
        centers = np.asarray(position, dtype=np.float64)
        if centers.ndim != 2 or centers.shape[1] != 3 or not len(centers):
            raise ValueError(f"position has the shape {centers.shape}, but (n, 3) with at least one grain belongs here")
        count = len(centers)
        _numbers("position", centers, (count, 3))
        section: dict[str, object] = {}
        columns: list[tuple[str, Sequence[str]]] = []

        def add_numbers(names: Sequence[str], array: NDArray[np.float64]) -> None:
            rows = cast("list[list[float]]", cast(Any, array).reshape(count, -1).tolist())
            for name, column in zip(names, zip(*rows, strict=True), strict=True):
                # repr has all digits of a float.
                columns.append((name, [repr(value) for value in column]))

        if id is not None:
            given = np.asarray(id)
            if given.shape != (count,) or given.dtype.kind not in "iu":
                raise ValueError(f"id has the shape {given.shape} and the type {given.dtype}, but ({count},) whole numbers belong here")
            columns.append(("id", [str(one) for one in cast("list[int]", given.tolist())]))
        add_numbers(["x[m]", "y[m]", "z[m]"], centers)
        if radius is not None:
            if isinstance(radius, str) or np.ndim(radius) == 0:
                section["radius"] = radius
            else:
                add_numbers(["radius[m]"], _numbers("radius", radius, (count,)))
        for name, vector, letter, unit in (
            ("velocity", velocity, "v", "m/s"),
            ("angular_velocity", angular_velocity, "w", "rad/s"),
        ):
            if vector is None:
                continue
            if np.ndim(cast(ArrayLike, vector)) == 1:
                section[name] = vector
            else:
                add_numbers([f"{letter}{axis}[{unit}]" for axis in "xyz"], _numbers(name, cast(ArrayLike, vector), (count, 3)))
        if isinstance(material, str):
            section["material"] = material
        elif material is not None:
            names = [str(name) for name in material]
            if len(names) != count:
                raise ValueError(f"material has {len(names)} names for {count} grains")
            columns.append(("material", names))
        for key, value in keys.items():
            if key in _COLUMNS and not isinstance(value, str) and np.ndim(cast(Any, value)) == 1:
                add_numbers([_COLUMNS[key]], _numbers(key, cast(ArrayLike, value), (count,)))
            elif key == "density":
                add_numbers([_COLUMNS[key]], np.full(count, float(cast(Any, value))))
            else:
                section[key] = value

        lines = [",".join(name for name, _ in columns)]
        lines.extend(",".join(row) for row in zip(*(column for _, column in columns), strict=True))
        text = "\n".join(lines) + "\n"
        path = scene.new_table(group) if file is None else Path(scene.path).parent / file
        section["file"] = str(path) if file is None else os.fspath(file)
        path.write_text(text, encoding="utf-8")
        try:
            scene.set_at(["grains", group], plain(section))
        except BaseException:
            path.unlink()
            raise
        if file is None:
            scene.keep_table(("grains", group, "file"), path)
