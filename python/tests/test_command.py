"""The command line inside Python: its words, exit codes and signals."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seixo import __version__, _seixo

LONG = """
[run]
until = "1000 s"
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
every = "100 s"
"""


def seixo(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "seixo", *words], capture_output=True, text=True, cwd=folder, check=False)


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while not path.exists():
        assert process.poll() is None, f"it ended before it wrote {path}"
        assert time.monotonic() < end, f"it does not write {path}"
        time.sleep(0.01)


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    done = seixo("--version", folder=tmp_path)
    version, features = done.stdout.splitlines()
    assert (done.returncode, version) == (0, f"seixo {__version__}")
    # A wheel has all parts of the program.
    assert {"window", "page", "film"} <= set(features.removeprefix("features: ").split(", "))


def test_help_names_the_program(tmp_path: Path) -> None:
    done = seixo("check", "--help", folder=tmp_path)
    assert done.returncode == 0
    assert "Usage: seixo check" in done.stdout


def test_a_wrong_scene_ends_with_code_2_and_names_line_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(LONG.replace("restitution = 0.5", "restitution = 1.5"))
    done = seixo("check", "wrong.toml", folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    line = 1 + LONG.splitlines().index("restitution = 0.5")
    assert f"wrong.toml:{line}:" in done.stderr
    assert "restitution" in done.stderr and "1.5" in done.stderr


def test_the_function_returns_the_code_and_python_goes_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _seixo.main(["seixo", "check", str(tmp_path / "missing.toml")]) == 2
    assert "missing.toml" in capfd.readouterr().err
    assert _seixo.main(["seixo", "schema"]) == 0
    assert '"$schema"' in capfd.readouterr().out


def test_ctrl_c_stops_a_run_after_a_checkpoint_with_code_130(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    words = [sys.executable, "-m", "seixo", "run", "long.toml", "--out", "out", "--quiet"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE)
    wait_for(tmp_path / "out" / "log.jsonl", process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    assert any((tmp_path / "out" / "checkpoints").iterdir())


def test_python_has_its_signals_again_after_a_run(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(LONG)
    program = """
import os, signal, sys, time
from seixo import _seixo
code = _seixo.main(["seixo", "run", "short.toml", "--until", "1 ms", "--out", "out", "--quiet"])
assert code == 0, code
for _ in range(2):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(10)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=30, check=False)
    assert done.stdout.split() == ["interrupted", "interrupted"], done.stderr
    assert done.returncode == -signal.SIGTERM
