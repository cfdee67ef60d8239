"""One name for one thing: in frames of runs, in tables, and in running simulations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import seixo as sx
from seixo._simulation_arrays import Lines
from seixo._tables import Table

PILE = """
title = "Pile"
[run]
until = "1 ms"
[world]
gravity = [0, 0, -9.81]
[material.stone]
density = 2500
youngs_modulus = "10 MPa"
poisson_ratio = 0.25
[interaction.stone-stone]
restitution = 0.5
friction = 0.5
[grains.bar]
material = "stone"
at = [[0, 0, "9.99 mm"], ["1.999 cm", 0, "9.99 mm"], ["3.998 cm", 0, "9.99 mm"]]
radius = "1 cm"
[bonds.cement]
among = ["bar"]
youngs_modulus = "10 MPa"
poisson_ratio = 0.2
[grains.loose]
material = "stone"
at = [["10 cm", 0, "9.99 mm"], ["10 cm", "1.999 cm", "9.99 mm"]]
radius = "1 cm"
[wall.floor]
material = "stone"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[output]
every = "1 ms"
fields = ["velocity", "orientation"]
contacts = true
[probe.middle]
group_center = "bar"
every = "1 ms"
"""


@pytest.fixture(scope="module")
def scene() -> sx.Scene:
    return sx.Scene.from_text(PILE)


@pytest.fixture(scope="module")
def frame(scene: sx.Scene, tmp_path_factory: pytest.TempPathFactory) -> sx.Frame:
    return scene.run(tmp_path_factory.mktemp("pile") / "out", progress=False, device="cpu").frames[0]


def test_frames_have_the_names_of_simulations(scene: sx.Scene, frame: sx.Frame) -> None:
    sim = sx.Simulation(scene, device="cpu")
    contacts = sim.contacts(walls=True)
    assert (contacts.j < 0).any() and (contacts.j >= 0).any()
    pairs = set(zip(contacts.i.tolist(), contacts.j.tolist()))
    assert set(zip(frame.contacts.i.tolist(), frame.contacts.j.tolist())) == pairs
    assert frame.contacts.j.dtype == np.int64
    assert frame.contacts.i is frame.contacts.a
    assert np.array_equal(frame.bonds.i, sim.bonds.i) and np.array_equal(frame.bonds.j, sim.bonds.j)
    assert "i" not in frame.bonds.keys()
    np.testing.assert_allclose(frame.grains.orientation, sim.grains.orientation, atol=1e-7)


def test_arrays_of_simulations_are_tables(scene: sx.Scene) -> None:
    pandas = pytest.importorskip("pandas")
    sim = sx.Simulation(scene, device="cpu")
    grains = sim.grains.to_pandas()
    assert isinstance(grains, pandas.DataFrame) and len(grains) == 5
    assert np.array_equal(grains["position_z"], sim.grains.position[:, 2])
    assert np.array_equal(grains["orientation_w"], sim.grains.orientation[:, 0])
    assert np.array_equal(sim.contacts().to_pandas()["normal_y"], sim.contacts().normal[:, 1])
    assert np.array_equal(sim.bonds.to_pandas()["ends_1_x"], sim.bonds.ends[:, 1, 0])
    assert len(sim.fluid.to_pandas()) == 0
    polars = pytest.importorskip("polars")
    assert isinstance(sim.grains.to_polars(), polars.DataFrame)


def test_arrays_and_parts_have_both_ways_of_access(scene: sx.Scene) -> None:
    sim = sx.Simulation(scene, device="cpu")
    assert sim.grains["position"] is sim.grains.position and "radius" in sim.grains
    assert sim.wall.floor.name == "floor"
    sim.run()
    lines = sim.probe.middle
    assert np.array_equal(lines.time, lines["time"]) and len(lines.time) == 2
    with pytest.raises(AttributeError, match=r"the grains have no positon; did you mean position\? They have: id, position"):
        sim.grains.positon  # type: ignore[attr-defined]
    with pytest.raises(sx.UnknownNameError, match="the contacts have no forces; did you mean force"):
        sim.contacts()["forces"]
    with pytest.raises(AttributeError, match="did you mean 'time'"):
        lines.tme
    with pytest.raises(AttributeError, match="did you mean 'floor'"):
        sim.wall.flor


def test_gauges_are_found_by_their_names(tmp_path: Path) -> None:
    headers = ("time [s]", "p1 (0.49 0.02 0.02) [Pa]", "p2 (1 0 2) [Pa]", "q (0.1 0 0) [m]", "q (0.2 0 0) [m]")
    path = tmp_path / "gauges.csv"
    path.write_text(",".join(headers) + "\n0,1.5,2.5,3.5,4.5\n")
    for table in (Table(path, ""), Lines("gauges", {name: np.array([k + 0.5]) for k, name in enumerate(headers)})):
        assert table["p1"][0] == table.p1[0] == table["p1 (0.49 0.02 0.02)"][0] == table["p1 (0.49 0.02 0.02) [Pa]"][0] == 1.5
        assert table["p2"][0] == table["p2 (1 0 2)"][0] == 2.5
        assert "p1" in table and "q" not in table and "q (0.2 0 0)" in table
        with pytest.raises(KeyError, match="q \\(0.1 0 0\\)"):
            table["q"]
