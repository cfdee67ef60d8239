# Stubs of the compiled module. One section per file of crates/python/src.

from os import PathLike
from typing import Any

from numpy.typing import NDArray
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

__version__: str

# ---------------------------------------------------------------- errors


# ---------------------------------------------------------------- scene


# ---------------------------------------------------------------- runs


# ---------------------------------------------------------------- simulation


# ---------------------------------------------------------------- views


# ---------------------------------------------------------------- results

class FrameFile:
    """A file of a frame, of which arrays are read one by one."""

    def __init__(self, path: str | PathLike[str]) -> None: ...
    @property
    def time(self) -> float: ...
    @property
    def points(self) -> int: ...
    @property
    def cells(self) -> int: ...
    def arrays(self) -> list[tuple[str, str, int]]: ...
    def numbers(self) -> list[tuple[str, float]]: ...
    def names(self) -> list[str]: ...
    def grid(self) -> tuple[list[float], list[float], list[int]] | None: ...
    def read(self, group: str, name: str) -> NDArray[Any]: ...

def grain_fields() -> list[tuple[str, str]]: ...
def read_checkpoint(folder: str | PathLike[str]) -> tuple[float, int, list[tuple[str, NDArray[Any]]]]: ...
def read_collection(path: str | PathLike[str]) -> list[tuple[float, str]]: ...
def read_table(path: str | PathLike[str]) -> list[tuple[str, NDArray[Any]]]: ...

# ---------------------------------------------------------------- sweep

class SweepOptions(TypedDict):
    settings: list[tuple[str, str]]
    sample: str | None
    sample_seed: int
    device: str | None
    precision: str | None
    jobs: int | None
    threads: int | None
    gpus: int | None
    average_from: float

class SweepPlan:
    def __new__(cls, scene: Scene, vary: Sequence[tuple[str, str | list[str]]], options: SweepOptions) -> SweepPlan: ...
    @property
    def points(self) -> list[tuple[str, list[tuple[str, str]]]]: ...
    def run(self, folder: Path, program: list[str], show: Callable[[int, int, int, int, float], None] | None) -> None: ...

# ---------------------------------------------------------------- command

def main(arguments: list[str]) -> int: ...

