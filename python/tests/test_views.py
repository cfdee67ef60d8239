"""Views of `sim.hold()`: at the engine's address, read-only, and never dangling."""

import gc
import time
from pathlib import Path

import numpy as np
import pytest

import seixo as sx

BOX = """
[run]
until = "1 s"

[world]
gravity = [0, 0, "-9.81 m/s^2"]

[material.glass]
density = "2500 kg/m^3"
youngs_modulus = "1 MPa"
poisson_ratio = 0.2

[interaction.glass-glass]
restitution = 0.5
friction = 0.4

[grains.beads]
material = "glass"
fill = { region = { box = { min = [0, 0, 0], max = ["2 cm", "2 cm", "2 cm"] } }, count = COUNT, radius = "RADIUS" }

[wall.box]
material = "glass"
box = { min = ["-1 mm", "-1 mm", "-1 mm"], max = ["21 mm", "21 mm", "21 mm"] }
"""

POOL = """
[run]
until = "1 s"

[world]
gravity = [0, 0, "-9.81 m/s^2"]

[fluid.water]
density = "1000 kg/m^3"
viscosity = "1e-3 Pa s"
fill = { box = { min = [0, 0, 0], max = ["10 cm", "10 cm", "10 cm"] } }
support = 3
spacing = "2 cm"
sound_speed = "auto"

[wall.tank]
box = { min = [0, 0, 0], max = ["20 cm", "10 cm", "20 cm"] }
"""


def load(folder: Path, text: str) -> sx.Scene:
    path = folder / "scene.toml"
    path.write_text(text)
    return sx.Scene.load(path)


def box(folder: Path, count: int = 200, radius: str = "0.8 mm", **options: object) -> sx.Simulation:
    return sx.Simulation(load(folder, BOX.replace("COUNT", str(count)).replace("RADIUS", radius)), **{"device": "cpu"} | options)


@pytest.fixture
def sim(tmp_path: Path) -> sx.Simulation:
    return box(tmp_path)


def test_numpy_reads_the_memory_of_the_engine(sim: sx.Simulation) -> None:
    sim.step(50)
    with sim.hold() as now:
        assert now.steps == 50 and now.time > 0
        view = now.grains.position
        position = np.asarray(view)
        assert position.__array_interface__["data"][0] == view.address == now.grains.position.address
        assert position.shape == view.shape == (200, 3)
        assert position.strides == view.strides == (32, 8)
        assert position.dtype == view.dtype == np.float64
        assert view.device == "cpu" and len(view) == len(now.grains) == 200
        assert now.grains.radius.address == view.address + 24
        assert np.asarray(now.grains.id).dtype == np.uint32
        assert np.asarray(now.grains.half_step_velocity).strides == (24, 8)
        assert np.asarray(view, dtype=np.float32).dtype == np.float32
        with pytest.raises(ValueError, match="copy"):
            np.asarray(view, dtype=np.float32, copy=False)


def test_views_have_the_values_of_copies(sim: sx.Simulation) -> None:
    sim.step(200)
    with sim.hold() as now:
        order = np.argsort(np.asarray(now.grains.id))
        position = np.array(now.grains.position)[order]
        force = np.array(now.grains.force)[order]
        radius = np.array(now.grains.radius)[order]
    assert np.array_equal(position, sim.grains.position)
    assert np.array_equal(force, sim.grains.force)
    assert np.allclose(radius, 0.8e-3, rtol=1e-12)
    # Between two steps the grains fall, and the earlier copies stay.
    before = position.copy()
    sim.step(200)
    assert np.array_equal(position, before)
    assert not np.array_equal(position, sim.grains.position)


def test_views_are_read_only(sim: sx.Simulation) -> None:
    with sim.hold() as now:
        for array in (np.asarray(now.grains.velocity), np.from_dlpack(now.grains.velocity)):
            assert not array.flags.writeable
            with pytest.raises(ValueError):
                array[0, 0] = 1.0
            with pytest.raises(ValueError):
                array.flags.writeable = True
        copied = np.array(now.grains.velocity)
        assert copied.flags.writeable and copied.flags.owndata


def test_a_view_raises_after_its_block(sim: sx.Simulation) -> None:
    with sim.hold() as now:
        view, grains = now.grains.position, now.grains
    for use in (
        lambda: np.asarray(view),
        lambda: np.from_dlpack(view),
        lambda: view.address,
        lambda: view.shape,
        lambda: len(view),
        lambda: view.__dlpack_device__(),
        lambda: grains.position,
        lambda: now.grains,
        lambda: now.time,
    ):
        with pytest.raises(ValueError, match="block"):
            use()
    assert "over" in repr(view)
    # A view alone holds nothing.
    sim.step(1)
    with sim.hold() as now, pytest.raises(ValueError, match="over"):
        np.asarray(view)


def test_nothing_changes_a_simulation_that_is_held(sim: sx.Simulation) -> None:
    with sim.hold() as now:
        with pytest.raises(BufferError, match="held"):
            sim.step(1)
        with pytest.raises(BufferError, match="held already"), sim.hold():
            pass
        assert now.steps == 0
    sim.step(1)


def test_a_block_that_raises_releases_the_simulation(sim: sx.Simulation) -> None:
    with pytest.raises(ZeroDivisionError), sim.hold():
        raise ZeroDivisionError
    sim.step(1)
    held = sim.hold()
    held.__enter__()
    del held
    gc.collect()
    sim.step(1)


@pytest.mark.parametrize("take", [np.asarray, np.from_dlpack])
def test_steps_wait_for_arrays_that_are_still_in_use(sim: sx.Simulation, take: object) -> None:
    with sim.hold() as now:
        position = take(now.grains.position)  # type: ignore[operator]
        column = position[:, 2]
        del position
    kept = column.copy()
    with pytest.raises(BufferError, match=r"1 array from sim.hold\(\) is still in use"):
        sim.step(1)
    assert np.array_equal(column, kept)
    # A new block is fine, as nothing has changed.
    with sim.hold() as now:
        assert np.array_equal(np.asarray(now.grains.position)[:, 2], kept)
    del column
    gc.collect()
    sim.step(1)
    with sim.hold() as now:
        assert not np.array_equal(np.asarray(now.grains.position)[:, 2], kept)


@pytest.mark.parametrize("take", [np.asarray, np.from_dlpack])
def test_arrays_survive_their_simulation(tmp_path: Path, take: object) -> None:
    sim = box(tmp_path)
    with sim.hold() as now:
        position = take(now.grains.position)  # type: ignore[operator]
        kept = position.copy()
    del sim, now
    gc.collect()
    # Memory that was freed would be used again by these.
    others = [np.full(800, float(k)) for k in range(100)]
    assert np.array_equal(position, kept)
    assert len(others) == 100


def test_capsules_have_the_form_that_is_asked_for(sim: sx.Simulation) -> None:
    with sim.hold() as now:
        view = now.grains.position
        assert view.__dlpack_device__() == (1, 0)
        assert '"dltensor_versioned"' in repr(view.__dlpack__(max_version=(1, 0)))
        assert '"dltensor"' in repr(view.__dlpack__())
        assert '"dltensor"' in repr(view.__dlpack__(max_version=(0, 8)))
        assert np.from_dlpack(view).__array_interface__["data"][0] == view.address
        assert np.from_dlpack(now.grains.radius).strides == (32,)
        assert np.from_dlpack(now.grains.id).dtype == np.uint32
        with pytest.raises(BufferError, match="copy"):
            view.__dlpack__(copy=True)
        with pytest.raises(BufferError, match="cpu"):
            view.__dlpack__(dl_device=(2, 0))
        with pytest.raises(BufferError, match="stream"):
            view.__dlpack__(stream=7)
        with pytest.raises(AttributeError):
            view.__cuda_array_interface__
    # Capsules that nobody took have freed their shares.
    sim.step(1)


def test_a_name_that_grains_lack_says_what_they_have(sim: sx.Simulation) -> None:
    with sim.hold() as now:
        assert now.grains.torque.shape == (200, 3)
        with pytest.raises(AttributeError, match="position"):
            now.grains.temperature
        with pytest.raises(AttributeError, match="no fluid"):
            now.fluid


def test_fluids_are_shown_with_their_walls(tmp_path: Path) -> None:
    sim = sx.Simulation(load(tmp_path, POOL), device="cpu")
    sim.step(5)
    with sim.hold() as now:
        is_fluid = np.asarray(now.fluid.kind) < 2**31
        assert 0 < is_fluid.sum() < len(now.fluid)
        position = np.array(now.fluid.position)[is_fluid]
        density = 1000 * (1 + np.asarray(now.fluid.density_error)[is_fluid])
        volume = np.asarray(now.fluid.volume)[is_fluid]
        assert now.fluid.pressure.address == now.fluid.velocity.address + 24
    assert position.min() > 0 and position.max() < 0.2
    assert np.allclose(density, 1000, rtol=0.05)
    assert (density * volume).sum() == pytest.approx(1.0, rel=0.05)


def test_domains_have_no_common_array(tmp_path: Path) -> None:
    text = BOX.replace("COUNT", "200").replace("RADIUS", "0.8 mm").replace("[run]", "[run]\ndomains = 2")
    sim = sx.Simulation(load(tmp_path, text), device="cpu")
    with pytest.raises(ValueError, match="copies"), sim.hold():
        pass
    sim.step(1)


def test_a_view_costs_no_copy(tmp_path: Path) -> None:
    def best(sim: sx.Simulation) -> float:
        times: list[float] = []
        with sim.hold() as now:
            for _ in range(50):
                start = time.perf_counter()
                np.asarray(now.grains.position)
                times.append(time.perf_counter() - start)
        return min(times)

    assert best(box(tmp_path, 5000, "0.3 mm")) < 5 * best(box(tmp_path, 50, "0.3 mm")) + 5e-6


def test_torch_reads_the_memory_of_the_engine(sim: sx.Simulation) -> None:
    torch = pytest.importorskip("torch")
    with sim.hold() as now:
        tensor = torch.from_dlpack(now.grains.position)
        assert tensor.data_ptr() == now.grains.position.address
        assert tuple(tensor.shape) == (200, 3) and tensor.stride() == (4, 1)
        assert np.array_equal(tensor.numpy(), np.asarray(now.grains.position))
    with pytest.raises(BufferError, match="in use"):
        sim.step(1)
    del tensor
    gc.collect()
    sim.step(1)


@pytest.mark.parametrize("precision", ["f64", "mixed", "f32"])
def test_cuda_arrays_are_device_pointers(tmp_path: Path, precision: str) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA")
    sim = box(tmp_path, device="cuda", precision=precision)
    sim.step(100)
    expected = np.array(sim.grains.position)
    with sim.hold() as now:
        view = now.grains.position
        assert view.dtype == (np.float32 if precision == "f32" else np.float64)
        assert now.grains.velocity.dtype == (np.float64 if precision == "f64" else np.float32)
        tensor = torch.from_dlpack(view)
        assert tensor.is_cuda and tensor.data_ptr() == view.address
        interface = view.__cuda_array_interface__
        assert interface["data"] == (view.address, True) and interface["version"] == 3
        order = np.argsort(torch.from_dlpack(now.grains.id).cpu().numpy())
        assert np.array_equal(tensor.cpu().numpy()[order], expected)
        with pytest.raises(TypeError, match="cuda"):
            np.asarray(view)
    with pytest.raises(BufferError, match="in use"):
        sim.step(1)
    del tensor, view
    gc.collect()
    sim.step(1)
