"""Attributes of a running simulation: what can be set, how it is written, and what is refused."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest
import seixo as sx

BOX = """
title = "Box"
[run]
until = "1 s"
time_step = "10 us"
[world]
gravity = [0, 0, 0]
[material.glass]
density = 2500
youngs_modulus = 1e7
poisson_ratio = 0.2
[interaction.glass-glass]
restitution = 0.5
friction = 0.3
[grains.balls]
material = "glass"
at = [[0, 0, 0]]
radius = "1 cm"
[grains.rod]
material = "glass"
shape = "rod"
at = [["10 cm", 0, 0]]
radius = "5 mm"
[shape.rod]
spheres = [{ at = [0, 0, 0], radius = 1 }, { at = [1, 0, 0], radius = 1 }]
[wall.tank]
material = "glass"
box = { min = ["-50 cm", "-50 cm", "-50 cm"], max = ["50 cm", "50 cm", "50 cm"] }
"""


@pytest.fixture
def sim() -> sx.Simulation:
    return sx.Simulation(sx.Scene.from_text(BOX), device="cpu", threads=1)


def test_a_misspelled_attribute_cannot_be_set(sim: sx.Simulation) -> None:
    parts: list[tuple[Any, str, str, str]] = [
        (sim.wall["tank"], "velocty", "walls", "velocity"),
        (sim.body["rod"], "velocties", "bodies", "velocity"),
        (sim.group["balls"], "forces", "groups", "force"),
        (sim, "gravty", "simulations", "gravity"),
    ]
    for part, name, what, meant in parts:
        with pytest.raises(AttributeError, match=f"{what} have no {name}; did you mean {meant}\\? They have: .*{meant}"):
            setattr(part, name, [0, 0, 1])


def test_a_derived_class_sets_what_it_declares() -> None:
    class Own(sx.Simulation):
        history: list[float]

    own: Any = Own(sx.Scene.from_text(BOX), device="cpu", threads=1)
    own.history = [1.0]
    own._hidden = 2
    assert own.history == [1.0] and own._hidden == 2
    with pytest.raises(AttributeError, match="did you mean history"):
        own.histroy = []


def test_faces_of_a_box_keep_what_is_left_out(sim: sx.Simulation) -> None:
    faces = [name for name in sim.wall if name.startswith("tank.")]
    assert len(faces) == 6
    sim.wall[faces[0]].velocity = [0.1, 0, 0]
    sim.wall[faces[1]].velocity = [0, 0.2, 0]
    sim.wall["tank"].move(angular_velocity=[0, 0, "30 rpm"])
    np.testing.assert_allclose(sim.wall[faces[0]].velocity, [0.1, 0, 0])
    np.testing.assert_allclose(sim.wall[faces[1]].velocity, [0, 0.2, 0])
    for name in faces:
        np.testing.assert_allclose(sim.wall[name].angular_velocity, [0, 0, np.pi])
    sim.wall["tank"].move(velocity=[0, 0, 0])
    for name in faces:
        np.testing.assert_allclose(sim.wall[name].velocity, 0)
        np.testing.assert_allclose(sim.wall[name].angular_velocity, [0, 0, np.pi])


def test_vectors_are_set_as_a_whole(sim: sx.Simulation) -> None:
    body, wall, group = sim.body["rod"], sim.wall["tank"], sim.group["balls"]
    for vector in (sim.gravity, body.velocity, body.position, wall.velocity, wall.force, group.velocity, group.center, group.force):
        with pytest.raises(ValueError, match="set them all"):
            vector[2] = 1
        with pytest.raises(ValueError, match="read-only"):
            vector.fill(1)
    sim.gravity -= [0, 0, 9.81]
    body.velocity += [1, 0, 0]
    body.velocity *= 2
    np.testing.assert_array_equal(sim.gravity, [0, 0, -9.81])
    np.testing.assert_array_equal(body.velocity, [2, 0, 0])
    # What is computed of one, and a copy, can be changed.
    doubled = 2 * sim.gravity
    doubled[0] = 5
    own = sim.gravity.copy()
    own[0] = 5
    assert type(doubled) is np.ndarray and type(own) is np.ndarray and sim.gravity[0] == 0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(sim.gravity)), copy.copy(sim.gravity))
    assert float(np.linalg.norm(body.velocity)) == 2


def test_texts_have_units(sim: sx.Simulation) -> None:
    sim.wall["tank"].velocity = [0, 0, "-1 mm/s"]
    sim.body["rod"].angular_velocity = ["60 rpm", 0, 0]
    sim.gravity = np.array(["0", "0", "-981 cm/s^2"])
    np.testing.assert_allclose(sim.wall["tank"].velocity, [0, 0, -1e-3])
    np.testing.assert_allclose(sim.body["rod"].angular_velocity, [2 * np.pi, 0, 0], atol=1e-12)
    np.testing.assert_allclose(sim.gravity, [0, 0, -9.81])
    ids = sim.insert(["20 cm", 0, 0], radius="10 mm", velocity=["1 cm/s", 0, 0], material="glass", group="balls")
    new = sim.grains.id == ids[0]
    np.testing.assert_allclose(sim.grains.position[new], [[0.2, 0, 0]])
    np.testing.assert_allclose(sim.grains.radius[new], 0.01)
    np.testing.assert_allclose(sim.grains.velocity[new], [[0.01, 0, 0]])
    with pytest.raises(ValueError, match='the velocity of wall tank: "1 mm" is length'):
        sim.wall["tank"].velocity = [0, 0, "1 mm"]
    target: Any = "200 kPa"
    with pytest.raises(ValueError, match="give a number in N, Pa or N m"):
        sim.wall["tank"].servo_target = target
    with pytest.raises(ValueError, match='"4 kg" is mass'):
        sim.insert([0.3, 0, 0], radius="4 kg", material="glass", group="balls")


def test_arrays_are_those_of_their_step_while_another_thread_steps(sim: sx.Simulation) -> None:
    """An array that was taken before a step must not be kept as one of a later step."""
    looks = sim._grain_arrays
    begun, stepped = threading.Event(), threading.Event()

    def slow() -> dict[str, Any]:
        found = looks()
        begun.set()
        assert stepped.wait(10)
        return found

    sim.group["balls"].velocity = [1, 0, 0]
    sim._grain_arrays = slow  # type: ignore[method-assign]
    reader = threading.Thread(target=lambda: sim.grains)
    reader.start()
    assert begun.wait(10)
    sim.step(1000)
    del sim._grain_arrays
    assert sim.contacts() is sim.contacts()
    stepped.set()
    reader.join()
    np.testing.assert_allclose(sim.grains.position[0], [0.01, 0, 0], rtol=1e-12)
