"""Stepping from Python, against closed forms and against itself."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import seixo as sx

GRAVITY = 9.81
RADIUS = 0.01
STIFFNESS = 1e4
MASS = 2500.0 * 4.0 / 3.0 * np.pi * RADIUS**3

SOLID = f"""
[material.glass]
density = 2500
youngs_modulus = 1e7
poisson_ratio = 0.2
[interaction.glass-glass]
normal = "linear"
stiffness = {STIFFNESS}
restitution = 0.5
friction = 0.3
"""

FALL = f"""
title = "Fall"
[run]
until = "0.1 s"
time_step = "0.1 ms"
integrator = "velocity_verlet"
[world]
gravity = [0, 0, -{GRAVITY}]
{SOLID}
[grains.balls]
material = "glass"
at = [[0, 0, 1], [0.1, 0, 2]]
radius = {RADIUS}
"""

BOUNCE = f"""
title = "Bounce"
[run]
until = "1 s"
time_step = "0.1 ms"
[world]
gravity = [0, 0, -{GRAVITY}]
{SOLID}
[grains.balls]
material = "glass"
at = [[0, 0, 0.012], [0.1, 0, 0.015], [0.2, 0, 0.018]]
radius = {RADIUS}
[wall.floor]
material = "glass"
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
[probe.middle]
group_center = "balls"
every = "1 ms"
"""

PRESS = f"""
title = "Press"
[run]
until = "1 s"
time_step = "20 us"
[world]
gravity = [0, 0, 0]
{SOLID}
[grains.ball]
material = "glass"
at = [[0, 0, {RADIUS}]]
radius = {RADIUS}
[wall.floor]
material = "glass"
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
[wall.lid]
material = "glass"
plane = {{ point = [0, 0, {2 * RADIUS}], normal = [0, 0, -1] }}
MOTION
"""

CLUSTER = f"""
title = "Cluster"
[run]
until = "1 s"
time_step = "20 us"
[world]
gravity = [0, 0, 0]
{SOLID}
[grains.balls]
material = "glass"
at = [[0, 0, 0.0099], [0.0199, 0, 0.0099], [0.00995, 0.01723, 0.0099]]
radius = {RADIUS}
[wall.floor]
material = "glass"
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
[probe.around]
stress = {{ region = {{ box = {{ min = [-0.02, -0.02, -0.01], max = [0.04, 0.04, 0.03] }} }} }}
every = "0.1 ms"
"""

ROD = f"""
title = "Rod"
[run]
until = "1 s"
time_step = "20 us"
[world]
gravity = [0, 0, 0]
{SOLID}
[shape.rod]
spheres = [{{ at = [0, 0, 0], radius = 1 }}, {{ at = [1, 0, 0], radius = 1 }}]
[grains.scoop]
material = "glass"
shape = "rod"
at = [[0, 0, 0]]
radius = {RADIUS}
"""

DIE = f"""
title = "Die"
[run]
until = "1 s"
time_step = "20 us"
[world]
gravity = [0, 0, 0]
{SOLID}
[shape.die]
kind = "polyhedron"
box = [0.02, 0.02, 0.02]
rounding = 0.002
[grains.dice]
material = "glass"
shape = "die"
at = [[0, 0, 0]]
[grains.balls]
material = "glass"
at = [[0, 0, 0.1]]
radius = {RADIUS}
"""

Make = Callable[..., sx.Simulation]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(text: str, **options: Any) -> sx.Simulation:
        path = tmp_path / "scene.toml"
        path.write_text(text, encoding="utf-8")
        options.setdefault("checkpoint", tmp_path / "emergency.checkpoint")
        return sx.Simulation(sx.Scene.load(path), threads=1, **options)

    return made


def test_a_grain_falls_as_galileo_says(make: Make) -> None:
    sim = make(FALL)
    sim.step(250)
    assert sim.steps == 250
    assert sim.time == pytest.approx(0.025, rel=1e-12)
    # Velocity Verlet integrates a constant acceleration without error.
    fallen = 0.5 * GRAVITY * sim.time**2
    np.testing.assert_allclose(sim.grains.position[:, 2], [1 - fallen, 2 - fallen], rtol=1e-13)
    np.testing.assert_allclose(sim.grains.velocity[:, 2], -GRAVITY * sim.time, rtol=1e-11)
    sim.gravity = [0, 0, 0]
    before = sim.grains.velocity
    sim.step(10)
    np.testing.assert_allclose(sim.gravity, [0, 0, 0])
    np.testing.assert_allclose(sim.grains.velocity, before, rtol=1e-9)


def test_runs_end_at_times_conditions_and_the_end_of_the_scene(make: Make) -> None:
    sim = make(FALL)
    sim.run(until="2.04 ms")
    assert sim.steps == 20
    sim.run(until=0.004)
    assert sim.steps == 40
    sim.run(until="time > 5 ms")
    assert 50 <= sim.steps <= 52
    sim.run()
    assert sim.steps == 1000
    sim.run(until=0.1)
    for passed in (0.001, "-1 s"):
        with pytest.raises(ValueError, match=r"would go back: it is 0\.1 s now"):
            sim.run(until=passed)
    with pytest.raises(ValueError, match="has no end"):
        sim.run(until=float("inf"))
    assert sim.steps == 1000
    with pytest.raises(ValueError, match="time"):
        sim.run(until="2 mm")
    with pytest.raises(sx.SceneError):
        sim.run(until="nonsense > 2 s")


def test_wrong_arguments_of_steps_and_callbacks_are_refused(make: Make) -> None:
    sim = make(FALL)
    wrong: Any
    for wrong in ("3", 1.5):
        with pytest.raises(TypeError, match=f"the number of steps must be a whole number, not {wrong!r}"):
            sim.step(wrong)
        with pytest.raises(TypeError, match="between two calls must be a whole number"):
            sim.every(steps=wrong)
    wrong = 5
    with pytest.raises(TypeError, match="5 cannot be called; give a function"):
        sim.every("1 ms", wrong)
    assert sim.step(np.int64(2)) == 2  # type: ignore[arg-type]


def test_a_path_is_a_scene(tmp_path: Path) -> None:
    path = tmp_path / "fall.toml"
    path.write_text(FALL)
    assert sx.Simulation(path).title == sx.Simulation(str(path)).title == "Fall"


def test_callbacks_come_at_the_steps_nearest_to_their_times(make: Make) -> None:
    sim = make(FALL)
    by_time: list[int] = []
    by_steps: list[int] = []
    times: list[float] = []

    @sim.every("0.25 ms")
    def look(sim: sx.Simulation) -> None:
        by_time.append(sim.steps)
        times.append(sim.time)

    sim.every(None, lambda sim: by_steps.append(sim.steps), steps=4)
    sim.step(3)
    sim.step(8)
    assert by_time == [0, 3, 5, 8, 10]
    assert by_steps == [0, 4, 8]
    assert times == pytest.approx([1e-4 * step for step in by_time])
    sim.cancel(look)
    sim.step(10)
    assert by_time == [0, 3, 5, 8, 10]
    with pytest.raises(LookupError):
        sim.cancel(look)
    with pytest.raises(ValueError, match="either"):
        sim.every()


def test_a_callback_cannot_step(make: Make) -> None:
    sim = make(FALL)
    sim.every(None, lambda sim: sim.step(), steps=5)
    with pytest.raises(RuntimeError, match="being stepped"):
        sim.step(10)


def test_a_callback_holds_a_lid_at_constant_force(make: Make) -> None:
    sim = make(PRESS.replace("MOTION", ""))
    target, gain = 10.0, 0.01

    @sim.every("0.2 ms")
    def hold(sim: sx.Simulation) -> None:
        lid = sim.wall["lid"]
        lid.velocity = [0, 0, -gain * (target - lid.force[2])]

    # The error decays with the time 1 / (gain · k / 2), as two contacts are in series: 20 ms.
    sim.run(until="0.2 s")
    lid = sim.wall["lid"]
    assert lid.force[2] == pytest.approx(target, rel=1e-3)
    assert sim.wall["floor"].force[2] == pytest.approx(-target, rel=1e-3)
    assert lid.position[2] == pytest.approx(2 * RADIUS - 2 * target / STIFFNESS, rel=1e-3)
    # The box around the grain carries the force over its area, up to the overlaps.
    stress = sim.stress()
    assert stress is not None
    assert stress.contact[2, 2] * (2 * RADIUS) ** 2 == pytest.approx(target, rel=0.15)
    assert stress.total[2, 2] == pytest.approx(stress.contact[2, 2], rel=1e-3)


def test_a_wall_velocity_from_python_is_that_of_the_file(make: Make) -> None:
    by_file = make(PRESS.replace("MOTION", 'motion = { translate = [0, 0, "-5 mm/s"] }'))
    by_python = make(PRESS.replace("MOTION", ""))
    by_python.wall["lid"].velocity = [0, 0, -5e-3]
    np.testing.assert_array_equal(by_python.wall["lid"].velocity, [0, 0, -5e-3])
    by_file.step(1000)
    by_python.step(1000)
    assert by_file.wall["lid"].force[2] > 0.1, "the lid presses"
    np.testing.assert_array_equal(by_python.grains.position, by_file.grains.position)
    np.testing.assert_array_equal(by_python.grains.force, by_file.grains.force)
    np.testing.assert_array_equal(by_python.wall["lid"].position, by_file.wall["lid"].position)
    # A digest has the record of changes, too, which that of the file lacks.
    twin = make(PRESS.replace("MOTION", ""))
    twin.wall["lid"].velocity = [0, 0, -5e-3]
    twin.step(1000)
    assert twin.digest() == by_python.digest() != by_file.digest()


def test_walls_appear_and_vanish(make: Make) -> None:
    sim = make(BOUNCE)
    assert sim.wall["floor"].there
    sim.wall["floor"].there = False
    assert not sim.wall["floor"].there
    sim.run(until="0.2 s")
    assert (sim.grains.position[:, 2] < -0.1).all()
    assert sim.wall["floor"].servo_target is None


def test_a_checkpoint_goes_on_with_the_same_bits(make: Make, tmp_path: Path) -> None:
    sim = make(BOUNCE)
    sim.step(400)
    sim.gravity = [0.1, 0, -GRAVITY]
    sim.step(100)
    path = tmp_path / "half.checkpoint"
    sim.checkpoint(path)
    twin = sx.Simulation.resume(path)
    assert (twin.steps, twin.time) == (500, sim.time)
    assert twin.digest() == sim.digest()
    sim.step(500)
    twin.step(500)
    np.testing.assert_array_equal(twin.gravity, sim.gravity)
    np.testing.assert_array_equal(twin.grains.position, sim.grains.position)
    assert twin.digest() == sim.digest()
    sim.step(1)
    assert twin.digest() != sim.digest()


def test_ctrl_c_ends_a_loop_between_two_steps(make: Make) -> None:
    sim = make(BOUNCE)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        sim.step(10**12)
    assert time.monotonic() - began < 0.7
    timer.join()
    steps = sim.steps
    assert steps > 0
    sim.step(5)
    assert sim.steps == steps + 5


def test_an_interrupt_in_a_callback_leaves_the_simulation_intact(make: Make) -> None:
    sim = make(BOUNCE)

    @sim.every(steps=7)
    def interrupt(sim: sx.Simulation) -> None:
        if sim.steps == 14:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sim.step(100)
    assert sim.steps == 14
    sim.step(10)
    assert sim.steps == 24
    assert not sim.emergency_checkpoint.exists()


def test_an_error_in_a_callback_leaves_a_checkpoint(make: Make) -> None:
    sim = make(BOUNCE)

    def fail(sim: sx.Simulation) -> None:
        if sim.steps == 300:
            raise ZeroDivisionError("the user's own")

    sim.every(None, fail, steps=100)
    with pytest.raises(ZeroDivisionError, match="the user's own") as caught:
        sim.step(1000)
    assert sim.steps == 300
    assert "fail" in "".join(traceback.format_tb(caught.value.__traceback__))
    (note,) = caught.value.__notes__
    assert str(sim.emergency_checkpoint) in note and "step 300" in note
    twin = sx.Simulation.resume(sim.emergency_checkpoint)
    sim.cancel(fail)
    sim.step(200)
    twin.step(200)
    assert twin.digest() == sim.digest()


def test_grains_come_and_go_with_their_energy(make: Make) -> None:
    sim = make(FALL)
    sim.step(10)
    before = sim.ledger
    (new,) = sim.insert(position=[0.5, 0, 3.0], radius=RADIUS, velocity=[2.0, 0, 0], material="glass", group="balls")
    assert len(sim) == 3
    assert new in sim.grains.id
    assert sim.grains.position[sim.grains.id == new].tolist() == [[0.5, 0, 3.0]]
    brought = 0.5 * MASS * 2.0**2 + MASS * GRAVITY * 3.0
    assert sim.ledger["inserted"] - before["inserted"] == pytest.approx(brought, rel=1e-9)
    sim.step(100)
    assert abs(sim.ledger["residual"]) < 1e-8 * brought
    sim.remove(sim.grains.velocity[:, 0] > 1.0)
    assert len(sim) == 2 and new not in sim.grains.id
    assert sim.ledger["left_domain"] == pytest.approx(brought, rel=1e-9)
    sim.remove([int(sim.grains.id[0])])
    assert len(sim) == 1
    with pytest.raises(ValueError, match="mask"):
        sim.remove([True, False])
    with pytest.raises(ValueError, match="there is no grain 99"):
        sim.remove([99])
    with pytest.raises(KeyError, match="did you mean 'glass'"):
        sim.insert(position=[0, 0, 0], radius=RADIUS, material="glas")


def test_grains_may_come_with_any_prepared_radius(make: Make) -> None:
    large = f'[grains.large]\nmaterial = "glass"\nat = [[0.3, 0, 1]]\nradius = {2 * RADIUS}\n'
    sim = make(FALL + large)
    sim.insert(position=[0.5, 0, 3.0], radius=1.5 * RADIUS, material="glass", group="balls")
    sim.step(10)
    assert len(sim) == 4
    for radius in (0.9 * RADIUS, 2.1 * RADIUS):
        with pytest.raises(sx.SeixoError, match=r"grains of glass were prepared with radii from .* announce others by an inlet"):
            sim.insert(position=[0.7, 0, 3.0], radius=radius, material="glass", group="balls")
    with pytest.raises(sx.SeixoError, match=r"temperature .* left out"):
        sim.insert(position=[0.7, 0, 3.0], radius=RADIUS, material="glass", group="balls", temperature=300.0)
    sim.step(10)
    assert len(sim) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_refuses_the_simulation_of_its_parent(make: Make) -> None:
    sim = make(FALL)
    sim.step(1)
    child = os.fork()
    if child == 0:
        said = ""
        try:
            sim.step(1)
        except RuntimeError as error:
            said = str(error)
        os._exit(0 if "made in another process" in said else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    sim.step(1)
    assert sim.steps == 2


def test_contacts_give_fabric_and_forces(make: Make) -> None:
    sim = make(CLUSTER)
    found = sim.contacts()
    assert len(found) == 3
    fabric = np.einsum("ni,nj->ij", found.normal, found.normal) / len(found)
    assert np.trace(fabric) == pytest.approx(1.0)
    grains = sim.grains
    place = {int(id): index for index, id in enumerate(grains.id)}
    apart = np.array([grains.position[place[int(i)]] - grains.position[place[int(j)]] for i, j in zip(found.i, found.j, strict=True)])
    np.testing.assert_allclose(found.branch, apart, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.overlap, 2 * RADIUS - np.linalg.norm(apart, axis=1), rtol=1e-9)
    assert (np.einsum("ni,ni->n", found.force, found.normal) > 0).all(), "the force on i points away from j"
    everything = sim.contacts(walls=True)
    assert len(everything) == 6
    on_walls = everything.j < 0
    assert {everything.wall[-1 - j] for j in everything.j[on_walls]} == {"floor"}
    total = np.zeros((3, 3))
    for i, j, force in zip(everything.i, everything.j, everything.force, strict=True):
        total[place[int(i)]] += force
        if j >= 0:
            total[place[int(j)]] -= force
    np.testing.assert_allclose(total, grains.force, rtol=1e-9, atol=1e-12)


def test_stress_is_that_of_the_probe(make: Make) -> None:
    sim = make(CLUSTER)
    sim.step(6)
    by_name = sim.stress("around")
    by_numbers = sim.stress({"min": ["-2 cm", -0.02, -0.01], "max": [0.04, 0.04, 0.03]})
    assert by_name is not None and by_numbers is not None
    np.testing.assert_array_equal(by_name.contact, by_numbers.contact)
    assert by_name.pressure > 0, "compression is positive"
    last = sim.probe["around"].last
    assert last["time"] == pytest.approx(1e-4)
    with pytest.raises(KeyError, match="around"):
        sim.stress("arond")
    with pytest.raises(ValueError, match="region"):
        sim.stress({"min": [0, 0, 0]})
    wrong: list[dict[str, Any]] = [
        {"center": [float("nan"), 0, 0], "radius": 0.1},
        {"center": [0, 0, 0], "radius": -0.1},
        {"from": [0, 0, 0], "to": [0, 0, 1], "radius": -0.1},
    ]
    for region in wrong:
        with pytest.raises(ValueError, match="region"):
            sim.stress(region)
    sim = make(CLUSTER)
    sim.step(1)
    first, stress = sim.probe["around"].last, sim.stress("around")
    assert first["time"] == 0.0 and stress is not None
    assert stress.pressure == pytest.approx(first["pressure"], rel=0.05)


def test_probes_have_columns(make: Make) -> None:
    sim = make(BOUNCE)
    sim.step(101)
    lines = sim.probe["middle"]
    assert lines.columns == ["time", "x", "y", "z"]
    assert lines.units["z"] == "m"
    np.testing.assert_allclose(lines["time"], 1e-3 * np.arange(11), atol=1e-12)
    assert lines["z [m]"][0] == pytest.approx(0.015)
    assert lines.last["time"] == pytest.approx(0.01)
    with pytest.raises(KeyError, match="did you mean 'middle'"):
        sim.probe["midle"]


def test_groups_are_loaded_and_thrown(make: Make) -> None:
    sim = make(FALL.replace(f"[0, 0, -{GRAVITY}]", "[0, 0, 0]"))
    balls = sim.group["balls"]
    assert balls.count == 2 and balls.mass == pytest.approx(2 * MASS)
    np.testing.assert_allclose(balls.center, [0.05, 0, 1.5], rtol=1e-12)
    balls.velocity = [1.0, 0, 0]
    np.testing.assert_allclose(balls.velocity, [1.0, 0, 0], rtol=1e-12)
    balls.force = [0, 0, 2 * MASS * 3.0]
    start = sim.time
    sim.step(200)
    np.testing.assert_allclose(balls.velocity, [1.0, 0, 3.0 * (sim.time - start)], rtol=1e-9)
    np.testing.assert_allclose(balls.force, [0, 0, 6 * MASS], rtol=1e-9)


def test_bodies_are_thrown_and_read(make: Make) -> None:
    sim = make(ROD)
    scoop = sim.body["scoop"]
    start = scoop.position
    scoop.velocity = [0.1, 0, 0.2]
    sim.step(500)
    np.testing.assert_allclose(scoop.velocity, [0.1, 0, 0.2], rtol=1e-9)
    np.testing.assert_allclose(scoop.position - start, np.array([0.1, 0, 0.2]) * sim.time, rtol=1e-9, atol=1e-15)
    assert scoop.mass > 0 and (scoop.inertia > 0).all()
    assert np.linalg.norm(scoop.orientation) == pytest.approx(1.0)
    np.testing.assert_allclose(scoop.wrench, np.zeros(6), atol=1e-12)
    assert sim.body[scoop.id].mass == scoop.mass
    assert set(sim.grains.body) == {scoop.id}
    with pytest.raises(KeyError, match="scoop"):
        sim.body["scop"]


def test_grains_have_the_volumes_of_their_shapes(make: Make) -> None:
    sim = make(DIE)
    grains = sim.grains
    die, ball = (grains.group == sim.groups.index(name) for name in ("dice", "balls"))
    # A cube whose edges and corners are rounded: a core, plates on its faces, quarters of cylinders on its edges, and a sphere in eight parts.
    core, rounding = 0.016, 0.002
    rounded = core**3 + 6 * core**2 * rounding + 3 * np.pi * core * rounding**2 + 4 / 3 * np.pi * rounding**3
    np.testing.assert_allclose(grains.volume[die], [rounded], rtol=1e-6)
    np.testing.assert_allclose(grains.volume[ball], [4 / 3 * np.pi * RADIUS**3], rtol=1e-12)
    np.testing.assert_allclose(grains.volume * 2500.0, grains.mass, rtol=1e-12)
    # The die lies as it was drawn.
    np.testing.assert_allclose(np.abs(grains.orientation), [[1, 0, 0, 0], [1, 0, 0, 0]], atol=1e-12)


def test_arrays_are_taken_once_a_step_and_cannot_be_written_to(make: Make) -> None:
    sim = make(FALL)
    first = sim.grains
    assert sim.grains is first
    with pytest.raises(ValueError, match="read-only"):
        first.position[0] = 0
    sim.step()
    assert sim.grains is not first
    np.testing.assert_array_equal(first.velocity, 0, "earlier arrays stay as they were")
    sim.group["balls"].velocity = [1.0, 0, 0]
    assert sim.grains.velocity[0, 0] == pytest.approx(1.0), "a change is seen in the same step"
    assert len(sim.fluid) == 0 and len(sim.bonds) == 0
    assert sim.groups == ("balls",) and sim.materials == ("glass",)


def test_what_a_simulation_says_of_itself(make: Make) -> None:
    with make(FALL, set={"run.until": "0.2 s"}) as sim:
        assert "Fall" in repr(sim) and "2 grains" in repr(sim)
        assert (sim.device, sim.precision, sim.threads) == ("CPU", "f64", 1)
        assert sim.steps_at_end == 2000
        assert sim.time_step == 1e-4
        assert sim.stage is None
        with pytest.raises(KeyError, match="the scene has none"):
            sim.wall["lid"]


def test_stages_are_told_as_events(make: Make) -> None:
    stages = """
[[stage]]
name = "wait"
until = "duration 1 ms"
[[stage]]
name = "still"
set.gravity = [0, 0, 0]
"""
    sim = make(FALL + stages)
    sim.step(5)
    assert sim.stage == "wait"
    sim.step(50)
    assert sim.stage == "still"
    sim.gravity = [0, 0, -1]
    (change,) = [event for event in sim.events if event["event"] == "user_action"]
    assert change["steps"] == 55 and "gravity" in change["text"]
    began = [event["stage"] for event in sim.events if event["event"] == "stage_began"]
    assert began == ["wait", "still"]
    np.testing.assert_allclose(sim.grains.velocity[:, 2], -GRAVITY * 1e-3, rtol=1e-9)


def test_a_run_ends_with_the_condition_of_the_last_stage(make: Make) -> None:
    stage = """
[[stage]]
name = "fall"
until = "duration 2 ms"
"""
    sim = make(FALL + stage)
    assert sim.step(100) == 20
    # With a callback at the step where the stage ends, the steps up to there are a call of their own.
    sim = make(FALL + stage)
    sim.every(None, lambda sim: None, steps=20)
    assert sim.steps_at_end == 1000
    sim.run()
    assert sim.steps == sim.steps_at_end == 20


def test_steps_one_by_one_cost_little(make: Make) -> None:
    sim = make(FALL)
    sim.step(10)
    began = time.perf_counter()
    sim.step(1000)
    at_once = time.perf_counter() - began
    began = time.perf_counter()
    for _ in range(1000):
        sim.step()
    one_by_one = time.perf_counter() - began
    # Generous for loaded machines: what a call costs beside its step.
    assert one_by_one - at_once < 0.2
