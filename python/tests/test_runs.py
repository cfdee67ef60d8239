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


def test_a_refused_run_leaves_no_table(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    scene = made(tmp_path)
    scene.grains.add("pair", position=[[0.1, 0, 0.01]], radius=0.01, material="glass")
    with pytest.raises(sx.RunError, match="not a run folder"):
        scene.run(tmp_path / "out", progress=False)
    assert not list(tmp_path.glob("out.pair-*.csv"))
