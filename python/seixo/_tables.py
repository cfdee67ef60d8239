"""Tables of a run, each read from its file at first use."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ._arrays import Array, Grid, Part, data_frame
from ._names import UnknownNameError, suggestion
from ._seixo import FileError, read_table

_UNIT = re.compile(r" \[([^\[\]]*)\]$")
_CODES = re.compile(r" \((\d+ .*)\)$")
# Where a gauge is.
_POINT = re.compile(r" \([^()]*\)$")
_REMEDY = "put the file back as the run left it, or start the run again"


def named(name: object, headers: Mapping[str, str]) -> str | None:
    """The column of a name, of headers by column: `mass_flow`, `mass_flow [kg/s]`, or for `p1 (0.49 0.02 0.02)` just `p1`."""
    if not isinstance(name, str) or name in headers:
        return name if isinstance(name, str) else None
    for column, header in headers.items():
        if name in (header, _UNIT.sub("", header)):
            return column
    short = [column for column in headers if _POINT.sub("", column) == name]
    return short[0] if len(short) == 1 else None


class Table:
    """Columns of a table: `table["mass_flow"]`, `table["mass_flow [kg/s]"]` or `table.mass_flow`, all NumPy; of gauges `table["p1"]`.

    Columns of whole numbers are integers, unless some are missing (NaN). A last line that is still being written is left out.
    """

    def __init__(self, path: Path, absent: str, has_text: bool = False) -> None:
        self._path = path
        self._absent = absent
        self._has_text = has_text
        self._headers: dict[str, str] = {}
        self._columns: dict[str, Array] | None = None

    def _read(self) -> dict[str, Array]:
        if self._columns is None:
            columns: dict[str, Array] = {}
            headers: dict[str, str] = {}
            if self._path.exists():
                for header, values in _text_table(self._path) if self._has_text else read_table(self._path):
                    name = _CODES.sub("", _UNIT.sub("", header))
                    name = header if name in columns else name
                    values.flags.writeable = False
                    columns[name] = values
                    headers[name] = header
            self._columns, self._headers = columns, headers
        return self._columns

    def __getitem__(self, name: str) -> Array:
        columns = self._read()
        column = named(name, self._headers)
        if column is not None:
            return columns[column]
        if not columns:
            raise UnknownNameError(f"{self._path}: no such table, so no column {name!r}; {self._absent}")
        known = list(columns)
        raise UnknownNameError(f"{self._path}: no column {name!r}; the columns are {', '.join(known)}{suggestion(name, known)}")

    def __getattr__(self, name: str) -> Array:
        # Python looks for such names on its own, also before there are columns, as when it copies.
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __len__(self) -> int:
        return next((len(values) for values in self._read().values()), 0)

    def __contains__(self, name: object) -> bool:
        self._read()
        return named(name, self._headers) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def keys(self) -> list[str]:
        """Names of the columns, without units."""
        return self.columns

    @property
    def columns(self) -> list[str]:
        """Names of the columns, without units."""
        return list(self._read())

    @property
    def units(self) -> dict[str, str]:
        """SI unit of each column; empty for pure numbers."""
        self._read()
        found = {name: _UNIT.search(header) for name, header in self._headers.items()}
        return {name: "" if unit is None or unit[1] == "-" else unit[1] for name, unit in found.items()}

    @property
    def codes(self) -> dict[str, dict[int, str]]:
        """Meaning of the numbers in columns that stand for words, as in `breaks.codes["mode"]`."""
        self._read()
        found = {name: _CODES.search(header) for name, header in self._headers.items()}
        pairs = {name: [entry.split(" ", 1) for entry in codes[1].split("; ")] for name, codes in found.items() if codes}
        return {name: {int(number): word for number, word in words} for name, words in pairs.items()}

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in self.columns if name.isidentifier())})

    def __repr__(self) -> str:
        columns = self.columns
        return f"<{self._path}: {len(self)} rows of {', '.join(columns)}>" if columns else f"<no table {self._path}>"

    def _named(self, units: bool) -> dict[str, Array]:
        columns = self._read()
        return {self._headers[name] if units else name: values for name, values in columns.items()}

    def to_pandas(self, units: bool = False) -> Any:
        """A `pandas.DataFrame`. With `units` the names of its columns have them: `mass_flow [kg/s]`."""
        return data_frame("pandas", self._named(units))

    def to_polars(self, units: bool = False) -> Any:
        """A `polars.DataFrame`. With `units` the names of its columns have them: `mass_flow [kg/s]`."""
        return data_frame("polars", self._named(units))


def _text_table(path: Path) -> list[tuple[str, Array]]:
    """A table that has words in some columns."""
    try:
        text = path.read_text(encoding="utf-8")
        # A last line without an end is still being written.
        header, *rows = csv.reader(text[: text.rfind("\n") + 1].splitlines())
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read: {error}; {_REMEDY}") from error
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise FileError(f"{path}:{number}: {len(row)} values where the first line names {len(header)}; {_REMEDY}")
    return [(name, _numbers([row[k] for row in rows])) for k, name in enumerate(header)]


def _numbers(cells: list[str]) -> Array:
    for kind in (np.int64, np.float64):
        try:
            return np.array(cells, dtype=np.str_).astype(kind)
        except ValueError:
            continue
    return np.array(cells, dtype=np.str_)


class Probe(Table):
    """The table of a probe, and what it measured besides."""

    def __init__(self, path: Path, results: Path) -> None:
        super().__init__(path, "add the probe to the scene and run it")
        self._results = results

    @property
    def result(self) -> Table | Grid | None:
        """The distribution of residence times (a table), or the fields of dead zones (a grid), at the newest checkpoint.

        None for other probes, and before the first checkpoint.
        """
        table, grid = (self._results.parent / f"{self._results.name}.{ending}" for ending in ("csv", "vti"))
        if table.exists():
            return Table(table, "")
        if grid.exists():
            part = Part("fields", "results", "vti", "position", True, "")
            return Grid(part, grid, f"probe {self._results.name}")
        return None


class Probes(Mapping[str, Probe]):
    """The probes of a run by name: `out.probe["outlet"]` or `out.probe.outlet`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._probes = {
            path.stem: Probe(path, folder / "results" / path.stem) for path in sorted((folder / "probes").glob("*.csv"))
        }

    def __getitem__(self, name: str) -> Probe:
        if name in self._probes:
            return self._probes[name]
        known = list(self._probes)
        there = f"the probes are {', '.join(known)}" if known else "add a section [probe.NAME] to the scene and run it"
        raise UnknownNameError(f"{self._folder}: no probe {name!r}; {there}{suggestion(name, known)}")

    def __getattr__(self, name: str) -> Probe:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._probes)

    def __len__(self) -> int:
        return len(self._probes)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in self._probes if name.isidentifier())})

    def __repr__(self) -> str:
        return f"<probes of {self._folder}: {', '.join(self._probes)}>"
