"""Seixo, a particle engine: scene file in, checked numbers and pictures out."""

from . import _pickled as _pickled
from ._arrays import Arrays, Grid
from ._frames import Frame, Frames
from ._keys import Section, UnknownKeyError
from ._names import UnknownNameError
from ._results import Checkpoint, Results, open
from ._runs import Run, resume
from ._scene import Check, Scene, templates
from ._seixo import (
    Array,
    Diagnostic,
    FileError,
    Held,
    HeldFluid,
    HeldGrains,
    RunError,
    SceneError,
    SeixoError,
    __version__,
)
from ._simulation import Simulation
from ._sweep import Sweep, SweepPoint, SweepResults, sweep
from ._tables import Probe, Probes, Table

__all__ = [
    "Array",
    "Arrays",
    "Check",
    "Checkpoint",
    "Diagnostic",
    "FileError",
    "Frame",
    "Frames",
    "Grid",
    "Held",
    "HeldFluid",
    "HeldGrains",
    "Probe",
    "Probes",
    "Results",
    "Run",
    "RunError",
    "Scene",
    "SceneError",
    "Section",
    "SeixoError",
    "Simulation",
    "Sweep",
    "SweepPoint",
    "SweepResults",
    "Table",
    "UnknownKeyError",
    "UnknownNameError",
    "__version__",
    "open",
    "resume",
    "sweep",
    "templates",
]
