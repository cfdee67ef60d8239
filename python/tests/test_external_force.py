"""Forces on single grains from arrays: motion by Newton's law, keys and values, errors."""

from pathlib import Path

import numpy as np
import pytest

import seixo as sx

SCENE = """
[run]
until = "1 s"
[world]
gravity = [0, 0, 0]
[material.glass]
density = "2500 kg/m^3"
youngs_modulus = "10 MPa"
poisson_ratio = 0.2
[interaction.glass-glass]
restitution = 0.5
friction = 0.5
[grains.balls]
material = "glass"
at = [[0, 0, 0], ["1 cm", 0, 0], ["2 cm", 0, 0]]
radius = "1 mm"
"""

MASS = 2500.0 * 4.0 / 3.0 * np.pi * 1e-9


@pytest.fixture
def sim(tmp_path: Path) -> sx.Simulation:
    path = tmp_path / "balls.toml"
    path.write_text(SCENE)
    return sx.Simulation(sx.Scene.load(path), device="cpu")


def test_a_constant_force_moves_its_grain_by_half_a_t_squared(sim: sx.Simulation) -> None:
    ids = sim.grains.id
    start = sim.grains.position.copy()
    sim.external_force[ids[1]] = [1e-5, 0, -2e-5]
    sim.step(100)
    moved = sim.grains.position - start
    expected = 0.5 / MASS * sim.time**2 * np.array([1e-5, 0, -2e-5])
    np.testing.assert_allclose(moved[1], expected, rtol=1e-7)
    assert not moved[[0, 2]].any()
    np.testing.assert_allclose(sim.grains.force[1], [1e-5, 0, -2e-5])


def test_forces_are_read_while_the_simulation_is_held(sim: sx.Simulation) -> None:
    sim.external_force[:] = [1e-5, 0, 0]
    with sim.hold():
        np.testing.assert_array_equal(sim.external_force[:], [[1e-5, 0, 0]] * 3)
        assert len(sim.external_force) == 3
        with pytest.raises(BufferError, match="held"):
            sim.external_force[:] = [2e-5, 0, 0]


def test_keys_are_ids_masks_and_all_grains_and_reading_copies(sim: sx.Simulation) -> None:
    ids = sim.grains.id
    given = np.arange(9.0).reshape(3, 3) * 1e-6
    sim.external_force[:] = given
    read = sim.external_force[:]
    np.testing.assert_array_equal(read, given)
    read[:] = 7
    np.testing.assert_array_equal(sim.external_force[:], given)
    sim.external_force[ids[[2, 0]]] = [[1, 2, 3], [4, 5, 6]]
    np.testing.assert_array_equal(sim.external_force[int(ids[2])], [1, 2, 3])
    np.testing.assert_array_equal(sim.external_force[[int(ids[0]), int(ids[1])]], [[4, 5, 6], given[1]])
    sim.external_force[np.array([False, True, True])] = (0, 0, 1)
    np.testing.assert_array_equal(np.asarray(sim.external_force), [[4, 5, 6], [0, 0, 1], [0, 0, 1]])
    sim.external_force.clear()
    assert not sim.external_force[:].any()


def test_torques_turn_grains_and_forces_are_kept(sim: sx.Simulation) -> None:
    ids = sim.grains.id
    sim.external_force[:] = (1e-6, 0, 0)
    sim.external_torque[ids[0]] = (0, 1e-10, 0)
    sim.external_torque[ids[0]] = (0, 0, 1e-10)
    sim.step(50)
    inertia = 0.4 * MASS * 1e-6
    np.testing.assert_allclose(sim.grains.angular_velocity[0], [0, 0, 1e-10 / inertia * sim.time], rtol=1e-12)
    np.testing.assert_allclose(sim.grains.velocity[:, 0], 1e-6 / MASS * sim.time, rtol=1e-12)
    sim.external_torque.clear()
    assert not sim.external_torque[:].any()
    np.testing.assert_array_equal(sim.external_force[int(ids[0])], [1e-6, 0, 0])


def test_a_spring_set_in_every_step_keeps_its_energy(sim: sx.Simulation) -> None:
    center = sim.grains.position.copy()
    omega = 0.05 / sim.time_step
    stiffness = MASS * omega**2
    sim.external_force[:] = stiffness * np.array([1e-5, 0, 0])
    amplitude = []
    for _ in range(400):
        x = sim.grains.position - center - [1e-5, 0, 0]
        sim.external_force[:] = -stiffness * x
        v = sim.grains.velocity
        amplitude.append(np.hypot(x[0, 0], v[0, 0] / omega))
        sim.step(1)
    # Half a step of delay would let it grow by exp(400 · 0.05² / 4), 28 %.
    np.testing.assert_allclose(amplitude, 1e-5, rtol=5e-3)


def test_errors_name_the_grain_and_the_shape(sim: sx.Simulation) -> None:
    with pytest.raises(Exception, match="no grain 99"):
        sim.external_force[99] = (0, 0, 1)
    with pytest.raises(Exception, match="no grain 99"):
        sim.external_force[99]
    with pytest.raises(Exception, match="finite"):
        sim.external_force[:] = np.nan * np.ones(3)
    with pytest.raises(Exception, match=r"\(3, 3\)"):
        sim.external_force[:] = np.zeros((2, 3))
    with pytest.raises(Exception, match="mask has 2 values for 3 grains"):
        sim.external_force[np.array([True, False])] = (0, 0, 1)
    with pytest.raises(Exception, match="ids, not places"):
        sim.external_force[0:2] = (0, 0, 1)
    with pytest.raises(Exception, match="must be an id"):
        sim.external_force[0.5] = (0, 0, 1)
    assert not sim.external_force[:].any()
