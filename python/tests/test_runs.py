"""Runs into folders: bytes of the command line, Ctrl-C, resume, progress."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import seixo as sx

from test_scene import SCENE

# What a run writes that does not depend on wall time.
TABLES = ("energies.csv", "scene.toml")


def made(tmp_path: Path, until: str = "1 ms") -> sx.Scene:
    scene = sx.Scene.from_text(SCENE, tmp_path / "ball.toml")
    scene.run.until = until
    scene.output = {"every": "0.5 ms", "energies_every": "0.1 ms"}
    del scene.stage
    return scene


def test_a_run_has_the_bytes_of_the_command_line(tmp_path: Path) -> None:
    scene = made(tmp_path)
    scene.save(tmp_path / "ball.toml")
    run = scene.run(tmp_path / "here", progress=False)
    command = [sys.executable, "-m", "seixo", "run", "ball.toml", "--out", "there", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    for name in TABLES:
        assert (run.folder / name).read_bytes() == (tmp_path / "there" / name).read_bytes(), name
    frames = sorted(path.relative_to(run.folder) for path in run.folder.glob("fields/*.vtp"))
    assert frames and all((run.folder / name).read_bytes() == (tmp_path / "there" / name).read_bytes() for name in frames)
    assert run.record["result"] == "finished" and run.events[-1]["event"] == "finished"


def test_values_of_one_run_leave_the_scene_as_it_is(tmp_path: Path) -> None:
    scene = made(tmp_path)
    before = scene.to_toml()
    lines: list[dict[str, object]] = []
    run = scene.run(tmp_path / "out", until="0.5 ms", set={"run.seed": np.int64(3)}, threads=1, progress=lines.append)
    assert scene.to_toml() == before
    assert run.record["time"] == pytest.approx(0.5e-3)
    assert "seed = 3" in (run.folder / "scene.toml").read_text()
    assert {"started", "progress", "finished"} <= {line["event"] for line in lines}
    with pytest.raises(sx.RunError, match="earlier run"):
        scene.run(tmp_path / "out", progress=False)
    assert scene.run(tmp_path / "out", overwrite=True, progress=False).record["time"] == pytest.approx(1e-3)


def test_an_interrupt_leaves_a_checkpoint_to_resume_from(tmp_path: Path) -> None:
    scene = made(tmp_path, until="10 s")

    def interrupt(event: dict[str, object]) -> None:
        if event["event"] == "progress" and not timers:
            timers.append(threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]))
            timers[0].start()

    timers: list[threading.Timer] = []
    folder = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        scene.run(folder, progress=interrupt)
    stopped = sx.Run(folder)
    assert stopped.record["result"] == "interrupted" and 0 < stopped.record["time"] < 10
    steps = stopped.record["steps"]
    until = (steps + 50) * 1e-5
    resumed = sx.resume(folder, until=until, progress=False)
    assert isinstance(resumed, sx.Run) and resumed.record["steps"] == steps + 50
    whole = scene.run(tmp_path / "whole", until=until, progress=False)
    assert (folder / "energies.csv").read_bytes() == (whole.folder / "energies.csv").read_bytes()


def test_an_exception_of_the_listener_stops_the_run(tmp_path: Path) -> None:
    def fail(event: dict[str, object]) -> None:
        if event["event"] == "progress":
            raise ArithmeticError("not today")

    with pytest.raises(ArithmeticError, match="not today"):
        made(tmp_path, until="10 s").run(tmp_path / "out", progress=fail)
    assert sx.Run(tmp_path / "out").record["result"] == "interrupted"


def test_tables_of_grains_go_beside_the_folder(tmp_path: Path) -> None:
    scene = made(tmp_path)
    scene.grains.add("pair", position=[[0.1, 0, 0.01], [0.2, 0, 0.01]], radius=0.01, material="glass")
    run = scene.run(tmp_path / "out", until="0.5 ms", progress=False)
    (table,) = tmp_path.glob("out.pair-*.csv")
    del scene
    assert table.name in (run.folder / "scene.toml").read_text()
    assert isinstance(sx.resume(run.folder, until="1 ms", progress=False), sx.Run)
    assert run.record["time"] == pytest.approx(1e-3)


def resumed_elsewhere(path: Path, command: str, options: str = "") -> str:
    """What a new process prints that resumes from a path."""
    program = f"import seixo as sx; out = sx.resume({str(path)!r}, {options}); {command}"
    done = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True)
    return done.stdout.splitlines()[-1]


def test_a_run_of_a_template_resumes_without_its_temporary_files(tmp_path: Path) -> None:
    scene = sx.Scene.template("column")
    scene.grains["column"].fill.region = {"cylinder": {"from": [0, 0, 0], "to": [0, 0, "2 cm"], "radius": "15 mm"}}
    scene.grains["column"].fill.solid_fraction = 0.5
    # Two steps and four.
    step = scene.check().time_step
    run = scene.run(tmp_path / "out", until=2 * step, progress=False)
    folder = scene.path.parent
    del scene
    assert not folder.exists() and len(list(tmp_path.glob("out.radius-*.csv"))) == 1
    assert resumed_elsewhere(run.folder, "print(out.record['steps'])", f"until={4 * step!r}, progress=False") == "4"


@pytest.mark.parametrize("name", ["column", "table"])
def test_a_checkpoint_holds_the_temporary_files_of_its_scene(tmp_path: Path, name: str) -> None:
    if name == "column":
        scene = sx.Scene.template("column")
        scene.grains["column"].fill.region = {"cylinder": {"from": [0, 0, 0], "to": [0, 0, "2 cm"], "radius": "15 mm"}}
        scene.grains["column"].fill.solid_fraction = 0.5
    else:
        scene = made(tmp_path)
        scene.grains.add("pair", position=[[0.1, 0, 0.01], [0.2, 0, 0.01]], radius=[0.01, 0.009], material="glass")
    sim = sx.Simulation(scene, threads=1)
    del scene
    sim.step(5)
    sim.checkpoint(tmp_path / "first.checkpoint")
    # A resumed simulation has them for its own checkpoints.
    sx.Simulation.resume(tmp_path / "first.checkpoint").checkpoint(tmp_path / "second.checkpoint")
    sim.step(5)
    for path in (tmp_path / "first.checkpoint", tmp_path / "second.checkpoint"):
        assert resumed_elsewhere(path, "out.step(5); print(out.digest())") == sim.digest()


def test_a_refused_run_leaves_no_table(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    scene = made(tmp_path)
    scene.grains.add("pair", position=[[0.1, 0, 0.01]], radius=0.01, material="glass")
    with pytest.raises(sx.RunError, match="not a run folder"):
        scene.run(tmp_path / "out", progress=False)
    assert not list(tmp_path.glob("out.pair-*.csv"))


def test_a_used_folder_is_refused_in_words_of_python(tmp_path: Path) -> None:
    scene = made(tmp_path)
    out = tmp_path / "out"
    scene.run(out, progress=False)
    with pytest.raises(sx.RunError) as used:
        scene.run(out, progress=False)
    text = str(used.value)
    assert f"`seixo.resume({str(out)!r})`" in text and "`overwrite=True`" in text and "another folder as `out`" in text
    assert "--" not in text
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter.txt").write_text("mine")
    with pytest.raises(sx.RunError, match="give another folder as `out`"):
        scene.run(other, progress=False)
