"""Runs the programs of python/examples, and compares their results with the physics."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import seixo as sx

EXAMPLES = Path(__file__).parents[1] / "examples"


def ran(folder: Path, *words: str) -> str:
    """What a program prints that runs in a folder."""
    command = [sys.executable, str(EXAMPLES / words[0]), *words[1:]]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_silo_discharges_with_the_flow_of_beverloo(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    ran(tmp_path, "process.py")
    outlet = sx.open(tmp_path / "out" / "base").probe["outlet"]
    # The correlation for flat bottoms [Beverloo 1961]; steep cones let up to half as much again through.
    beverloo = 0.58 * (0.58 * 1200) * np.sqrt(9.81) * (0.040 - 1.4 * 0.0065) ** 2.5
    assert 0.7 < outlet["mean_mass_flow"][-1] / beverloo < 1.6
    assert (tmp_path / "out" / "outlet.png").stat().st_size > 1000
    table = sx.SweepResults(tmp_path / "out" / "sweep").to_pandas()
    assert isinstance(table, pandas.DataFrame) and list(table["state"]) == ["finished"] * 6
    flow = table.groupby("interaction.corn-corn.friction")["outlet.mean_mass_flow"].mean()
    assert flow[0.1] > flow[0.5], "friction slows the flow"


def test_the_sample_yields_and_has_a_twin(tmp_path: Path) -> None:
    text = ran(tmp_path, "geomechanics.py")
    angle, across, x, y, z = (float(number) for number in re.findall(r"(?<![\w.])\d+\.\d+", text))
    # Spheres with a friction of 0.5, without resistance against rolling.
    assert 20 < angle < 40
    assert across == pytest.approx(100, rel=0.15), "the function holds the stress"
    assert x + y + z == pytest.approx(1, abs=2e-3)
    assert z > max(x, y) + 0.02, "contacts turn toward the load"
    assert "equal bits: True" in text
    assert (tmp_path / "yield.checkpoint").exists()


def test_the_scoop_moves_the_sand(tmp_path: Path) -> None:
    way = [] if importlib.util.find_spec("torch") else ["--numpy"]
    text = ran(tmp_path, "learning.py", "cpu", "--moves", "150", *way)
    found = re.search(r"at (\S+) m after (\S+) s\n.* by (\S+) m; the load is (\S+) N", text)
    assert found is not None, text
    at, time, moved, load = (float(number) for number in found.groups())
    assert text.startswith("CPU")
    assert -0.02 < at < -0.02 + 0.15 * time, "the sand slows the scoop"
    assert 0 < moved < at + 0.02, "the sand follows the scoop, but not all of it"
    assert load > 0


def test_the_scoop_says_what_is_missing(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "learning.py"), "cuda:0"]
    way = ["--numpy"]
    done = subprocess.run([*command, *way], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "NumPy does not see the memory of cuda:0" in done.stderr
    if importlib.util.find_spec("torch") is None:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and "PyTorch is missing" in done.stderr
