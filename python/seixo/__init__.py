"""Seixo, a particle engine: scene file in, checked numbers and pictures out."""

from ._arrays import Arrays, Grid
from ._frames import Frame, Frames
from ._results import Checkpoint, Results, open
from ._seixo import __version__
from ._tables import Probe, Probes, Table

__all__ = [
    "Arrays",
    "Checkpoint",
    "Frame",
    "Frames",
    "Grid",
    "Probe",
    "Probes",
    "Results",
    "Table",
    "__version__",
    "open",
]
from ._sweep import Sweep, SweepPoint, SweepResults, sweep

__all__ = ["Sweep", "SweepPoint", "SweepResults", "__version__", "sweep"]
from ._seixo import Array, Held, HeldFluid, HeldGrains, __version__

__all__ = ["Array", "Held", "HeldFluid", "HeldGrains", "__version__"]
from ._keys import Section, UnknownKeyError
from ._runs import Run, resume
from ._scene import Check, Scene, templates
from ._seixo import Diagnostic, FileError, RunError, SceneError, SeixoError, __version__

__all__ = [
    "Check",
    "Diagnostic",
    "FileError",
    "Run",
    "RunError",
    "Scene",
    "SceneError",
    "Section",
    "SeixoError",
    "UnknownKeyError",
    "__version__",
    "resume",
    "templates",
]
