"""Frames of a run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ._arrays import PARTS, Arrays, Grid
from ._measured import measured
from ._seixo import read_collection


class Frame:
    """All that a run wrote at one time. Each array is read when it is first used, and kept as long as the frame.

    A part that the run did not write is empty and false: `if frame.fluid: …`.
    """

    def __init__(self, folder: Path, index: int, time: float, step: int) -> None:
        self._folder = folder
        self.index = index
        """Number of the frame in the names of its files, from 0."""
        self.time = time
        """Time [s]."""
        self.step = step
        """Number of completed steps."""

    def _place(self, name: str) -> tuple[Path, str]:
        part = PARTS[name]
        return self._folder / part.folder / f"{name}_{self.index:06}.{part.ending}", f"frame {self.index} of {self._folder}"

    def _part(self, name: str) -> Arrays:
        return Arrays(PARTS[name], *self._place(name))

    @cached_property
    def grains(self) -> Arrays:
        """Grains in the order of their ids: `id` (n), `position` [m] (n, 3), `radius` [m] (n), and the fields that `output.fields` of the scene
        selects."""
        return self._part("grains")

    @cached_property
    def fluid(self) -> Arrays:
        """Fluid particles in the order of their ids: `id` (n), `position` [m] and `velocity` [m/s] (n, 3), `density` [kg/m³], `pressure` [Pa] and
        `fluid`, an index into `results.fluids` (n); and `spacing` [m]."""
        return self._part("fluid")

    @cached_property
    def surface(self) -> Arrays:
        """The free surface of fluids: `vertices` [m] (v, 3), `triangles` (t, 3) of indices of vertices, `normals` (v, 3), and fields at the
        vertices."""
        return self._part("surface")

    @cached_property
    def bodies(self) -> Arrays:
        """Surfaces of bodies from meshes: `vertices` [m] (v, 3), `normals` (v, 3), `triangles` (t, 3) of indices of vertices, and `body`, the id of
        the body of each triangle (t)."""
        return self._part("bodies")

    @cached_property
    def walls(self) -> Arrays:
        """Polygons of walls: `vertices` [m] (v, 3), `offsets` (p), the end of each polygon among them, `wall` (p), an index into `names`, and wear."""
        return self._part("walls")

    @cached_property
    def bonds(self) -> Arrays:
        """Intact bonds: ids `first` and `second` of their grains (n), `ends` [m] (n, 2, 3), `force` [N], `tension` [N], …, `utilization` (n)."""
        return self._part("bonds")

    @cached_property
    def contacts(self) -> Arrays:
        """Contacts: ids `a` and `b` (n), of a wall its index, where `is_wall` (n), `ends` [m] (n, 2, 3), `normal_force` [N], `tangential_force` [N],
        `overlap` [m] (n)."""
        return self._part("contacts")

    @cached_property
    def coarse(self) -> Grid:
        """Coarse-grained fields at the points of a grid, (x, y, z) and for vectors (x, y, z, 3)."""
        return Grid(PARTS["coarse"], *self._place("coarse"))

    def __repr__(self) -> str:
        return f"<frame {self.index} of {self._folder} at {self.time:.6g} s>"


class Frames(Sequence[Frame]):
    """Frames in the order of time: `frames[3]`, `frames[-1]`, `frames[::10]`, `for frame in frames`, `frames.at(0.5)`."""

    def __init__(self, folder: Path, numbered: Sequence[tuple[int, float]], time_step: float) -> None:
        self._folder = folder
        self._numbered = numbered
        self._time_step = time_step

    @classmethod
    def of(cls, folder: Path, time_step: float) -> Frames:
        """The frames that a run has completed."""
        # Files are listed once all of a frame are there, those of grains first.
        for part in PARTS.values():
            listed = folder / part.folder / f"{part.name}.pvd"
            if listed.exists():
                return cls(folder, [(index, time) for index, (time, _) in enumerate(read_collection(listed))], time_step)
        return cls(folder, [], time_step)

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of the frames [s] (n)."""
        return np.array([time for _, time in self._numbered], dtype=np.float64)

    def at(self, time: float | str) -> Frame:
        """The frame that is nearest to a time, a number in s or as in "0.3 s". IndexError if there are no frames."""
        seconds = float(measured(time, "s"))
        if np.isnan(seconds):
            raise ValueError("a time that is not a number has no nearest frame")
        if not self._numbered:
            raise IndexError(f"{self._folder}: no frames; set every under [output] in the scene and run it")
        return self[int(np.abs(self.times - seconds).argmin())]

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> Frames: ...
    def __getitem__(self, index: int | slice) -> Frame | Frames:
        if isinstance(index, slice):
            return Frames(self._folder, self._numbered[index], self._time_step)
        try:
            number, time = self._numbered[index]
        except IndexError:
            # The words of the command line.
            count = len(self)
            there = f"this run folder has frames 0 to {count - 1}" if count else "this run folder has no frames"
            raise IndexError(f"{self._folder}: frame {index} does not exist; {there}") from None
        step = round(time / self._time_step) if self._time_step > 0 else 0
        return Frame(self._folder, number, time, step)

    def __len__(self) -> int:
        return len(self._numbered)

    def __repr__(self) -> str:
        if not self._numbered:
            return f"<no frames in {self._folder}>"
        return f"<{len(self)} frames of {self._folder}, {self._numbered[0][1]:.6g} s to {self._numbered[-1][1]:.6g} s>"
