"""Sweeps: their points and table, and what an interruption leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import seixo as sx

# A ball that falls from rest.
FALL = """
[run]
until = "10 ms"
time_step = "10 us"
[world]
gravity = [0, 0, "-9.81 m/s^2"]
[material.glass]
density = "2500 kg/m^3"
youngs_modulus = "10 MPa"
poisson_ratio = 0.2
[interaction.glass-glass]
restitution = 0.5
friction = 0.4
[grains.ball]
material = "glass"
at = [[0, 0, "30 cm"]]
radius = "2 cm"
[wall.floor]
material = "glass"
cylinder = { from = [0, 0, "-1 cm"], to = [0, 0, 0], radius = "35 mm", caps = ["to"] }
[output]
every = "10 ms"
[probe.ball]
group_center = "ball"
every = "1 ms"
"""
VARIED = {"world.gravity": [[0, 0, -1.6], [0, 0, -9.81]], "run.seed": range(1, 3)}


@pytest.fixture
def fall(tmp_path: Path) -> Path:
    path = tmp_path / "fall.toml"
    path.write_text(FALL)
    return path


def in_another_process(program: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_until_a_point_is(word: str, folder: Path, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while True:
        try:
            if any(point.state == word for point in sx.SweepResults(folder).points):
                return
        except FileNotFoundError:
            pass
        assert process.poll() is None and time.monotonic() < end, f"no point is {word}"
        time.sleep(0.01)


def test_the_table_has_the_values_and_the_last_value_of_each_probe(fall: Path, tmp_path: Path) -> None:
    sweep = sx.sweep(str(fall), VARIED, out=tmp_path / "swept", jobs=2)
    assert [(point.values["world.gravity"], point.values["run.seed"]) for point in sweep.points] == [
        ("[0, 0, -1.6]", 1),
        ("[0, 0, -1.6]", 2),
        ("[0, 0, -9.81]", 1),
        ("[0, 0, -9.81]", 2),
    ]
    results = sweep.run(progress=False)
    assert not results.failures
    assert [point.name for point in results.points] == [point.name for point in sweep.points]
    assert all((point.folder / "run.json").exists() for point in results.points)
    table = results.table
    assert table["run.seed"].dtype == np.int64
    assert list(table["state"]) == ["finished"] * 4
    fallen = 0.5 * np.array([1.6, 1.6, 9.81, 9.81]) * 0.01**2
    np.testing.assert_allclose(0.3 - table["ball.z"], fallen, rtol=5e-3)
    assert (table["ball.z_mean"] > table["ball.z"]).all()
    assert (results.units["ball.z"], results.units["time"]) == ("m", "s")


def test_a_sweep_is_that_of_the_command_line_which_may_continue_it(fall: Path, tmp_path: Path) -> None:
    varied = {"interaction.glass-glass.friction": [0.2, 0.3], "run.seed": [1, 2]}
    results = sx.sweep(sx.Scene.load(fall), varied, out=tmp_path / "swept").run(progress=False)
    words = ["sweep", "fall.toml", "--vary", "interaction.glass-glass.friction=0.2,0.3", "--vary", "run.seed=1..2", "--quiet"]
    for folder in ("swept", "alone"):
        done = subprocess.run(
            [sys.executable, "-m", "seixo", *words, "--out", folder], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), folder
    again, alone = sx.SweepResults(tmp_path / "swept"), sx.SweepResults(tmp_path / "alone")
    assert [point.values for point in alone.points] == [point.values for point in results.points]
    for name, column in results.table.items():
        np.testing.assert_array_equal(again.table[name], column, f"{name}: the points are run again")
        if name != "wall_time":
            np.testing.assert_array_equal(alone.table[name], column, name)


def test_a_scene_that_was_changed_is_kept_beside_its_points(fall: Path, tmp_path: Path) -> None:
    scene = sx.Scene.load(fall)
    scene.world.gravity = [0, 0, -1.6]
    results = sx.sweep(scene, {"run.seed": 1}, out=tmp_path / "swept").run(progress=False)
    np.testing.assert_allclose(0.3 - results.table["ball.z"], 0.5 * 1.6 * 0.01**2, rtol=5e-3)
    assert "-1.6" in (tmp_path / "swept" / "scene.toml").read_text()
    # Another scene does not go on there.
    scene.world.gravity = [0, 0, -3.7]
    with pytest.raises(ValueError, match="another scene"):
        sx.sweep(scene, {"run.seed": 1}, out=tmp_path / "swept").run(progress=False)


def test_a_folder_of_something_else_is_not_touched(fall: Path, tmp_path: Path) -> None:
    scene = sx.Scene.load(fall)
    scene.world.gravity = [0, 0, -1.6]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "scene.toml").write_text("mine")
    with pytest.raises(ValueError, match="not the folder of a sweep"):
        sx.sweep(scene, {"run.seed": 1}, out=tmp_path / "mine").run(progress=False)
    assert (tmp_path / "mine" / "scene.toml").read_text() == "mine"


def test_a_sweep_that_is_killed_goes_on_without_repeating_points(fall: Path, tmp_path: Path) -> None:
    program = "import seixo as sx; sx.sweep('fall.toml', {'run.seed': '1..4'}, out='swept', jobs=1).run(progress=False)"
    process = in_another_process(program, tmp_path)
    sweep = sx.sweep(fall, {"run.seed": range(1, 5)}, out=tmp_path / "swept", jobs=2)
    end = time.monotonic() + 30
    while not is_finished(sweep.points[0].folder):
        assert time.monotonic() < end, "no point is finished"
        time.sleep(0.005)
    process.kill()
    process.communicate()
    records = {point.folder: (point.folder / "run.json").read_bytes() for point in sweep.points if is_finished(point.folder)}
    results = sweep.run(progress=False)
    assert list(results.table["state"]) == ["finished"] * 4
    for folder, record in records.items():
        assert (folder / "run.json").read_bytes() == record, "a finished point is run again"


def is_finished(folder: Path) -> bool:
    record = folder / "run.json"
    return record.exists() and '"result": "finished"' in record.read_text()


def test_ctrl_c_stops_the_points_after_checkpoints(fall: Path, tmp_path: Path) -> None:
    fall.write_text(FALL.replace('until = "10 ms"', 'until = "1000 s"').replace('every = "10 ms"', 'every = "100 s"'))
    process = in_another_process("import seixo as sx; sx.sweep('fall.toml', {'run.seed': [1, 2]}, out='swept', jobs=1).run()", tmp_path)
    wait_until_a_point_is("running", tmp_path / "swept", process)
    while not list((tmp_path / "swept").glob("*/log.jsonl")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
    assert process.returncode in (130, -signal.SIGINT)
    states = [point.state for point in sx.SweepResults(tmp_path / "swept").points]
    assert states == ["interrupted", "waiting"]
    assert list((tmp_path / "swept").glob("*/checkpoints/*"))


def test_a_point_that_fails_is_listed_with_its_words(fall: Path, tmp_path: Path) -> None:
    sweep = sx.sweep(fall, {"run.time_step": ["10 us", "1 s"]}, out=tmp_path / "swept")
    with pytest.warns(RuntimeWarning, match="1 of 2 points"):
        results = sweep.run(progress=False)
    (failed,) = results.failures
    assert failed.values == {"run.time_step": "1 s"}
    assert "stable limit" in failed.reason
    assert np.isnan(results.table["ball.z"][1]) and np.isfinite(results.table["ball.z"][0])


def test_wrong_keys_and_values_are_refused_before_anything_runs(fall: Path, tmp_path: Path) -> None:
    for varied, word in (
        ({"run.sead": [1, 2]}, "sead"),
        ({"interaction.glass-glass.friction": [0.2, -1.0]}, "friction"),
        ({"run.seed": [1, 1]}, "twice"),
        ({"run.seed": []}, "run.seed"),
        ({"run.seed": "5..1"}, "is empty"),
    ):
        with pytest.raises((sx.SceneError, ValueError), match=word):
            sx.sweep(fall, varied, out=tmp_path / "swept")
    with pytest.raises(TypeError, match="run.seed"):
        sx.sweep(fall, {"run.seed": [None]}, out=tmp_path / "swept")
    with pytest.raises(ValueError, match="jobs is 0"):
        sx.sweep(fall, {"run.seed": [1]}, out=tmp_path / "swept", jobs=0)
    assert not (tmp_path / "swept").exists()


def test_a_sample_has_as_many_points_as_asked_for(fall: Path, tmp_path: Path) -> None:
    varied = {"interaction.glass-glass.friction": "0.1..0.9", "run.seed": "1..9"}
    points = sx.sweep(fall, varied, out=tmp_path / "swept", sample="lhs:8").points
    frictions = np.sort([float(point.values["interaction.glass-glass.friction"]) for point in points])
    assert (np.floor((frictions - 0.1) / 0.1).clip(0, 7) == np.arange(8)).all()
    assert len(sx.sweep(fall, varied, out=tmp_path / "swept", sample=8).points) == 8


def test_data_frames_are_grouped_by_keys_and_aggregate_probes(fall: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    varied = {"interaction.glass-glass.friction": [0.2, 0.3], "run.seed": range(1, 3)}
    results = sx.sweep(fall, varied, out=tmp_path / "swept").run(progress=False)
    frame = results.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    grouped = frame.groupby("interaction.glass-glass.friction")["ball.z"].agg(["mean", "std"])
    assert list(grouped.index) == [0.2, 0.3]
    assert "ball.z [m]" in results.to_pandas(units=True)


def test_temporary_tables_of_grains_go_beside_the_folder(fall: Path, tmp_path: Path) -> None:
    scene = sx.Scene.load(fall)
    scene.grains.add("more", position=[[0.1, 0, 0.3]], radius=0.01, material="glass")
    out = tmp_path / "many"
    plan = sx.sweep(scene, {"run.seed": [1, 2]}, out, settings={"run.until": "50 us"})
    del scene
    assert len(plan.run(progress=False)) == 2
    (table,) = tmp_path.glob("many.more-*.csv")
    assert str(table) in (out / "scene.toml").read_text()
