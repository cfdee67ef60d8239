"""Runs the notebooks of docs/notebooks; each ends with a cell that compares its numbers with the physics."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
BOOKS = sorted(FOLDER.glob("*.ipynb"))
SECONDS_OF_A_CELL = 300


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def named(path: Path) -> str:
    return path.name


def test_there_are_notebooks() -> None:
    assert BOOKS, f"no notebook in {FOLDER}"


@pytest.mark.parametrize("path", BOOKS, ids=named)
def test_a_notebook_is_stored_without_results(path: Path) -> None:
    book = read(path)
    nbformat.validate(book)
    assert (book.nbformat, book.nbformat_minor) == (4, 5)
    for cell in book.cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None, cell.id
    assert "assert " in book.cells[-1].source, "the last cell compares numbers with the physics"


@pytest.mark.parametrize("path", BOOKS, ids=named)
def test_a_notebook_runs(path: Path) -> None:
    pytest.importorskip("ipykernel")
    for package in ("pandas", "matplotlib"):
        pytest.importorskip(package)
    book = read(path)
    if "needs-torch" in book.cells[0].metadata.get("tags", []) and importlib.util.find_spec("torch") is None:
        pytest.skip(f"{path.name} needs PyTorch, which is not installed")
    # As Jupyter does, it runs in the folder of the notebook.
    client = nbclient.NotebookClient(book, timeout=SECONDS_OF_A_CELL, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
