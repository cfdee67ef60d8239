"""Scenes: access by names, edits that keep comments, errors with places, grains from arrays."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import seixo as sx

SCENE = """\
# A ball on a floor.
title = "One ball"

[run]
until = "1 ms"     # short
time_step = "10 us"

[world]
gravity = [0, 0, "-9.81 m/s^2"]

[material.glass]
density = "2500 kg/m^3"
youngs_modulus = "10 MPa"
poisson_ratio = 0.2

[interaction.glass-glass]
restitution = 0.9
friction = 0.2

[grains.ball]
material = "glass"
at = [[0, 0, "1 cm"]]
radius = "1 cm"

[wall.floor]
material = "glass"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }

[[stage]]
name = "fall"
until = "time > 0.5 ms"
"""


@pytest.fixture
def scene() -> sx.Scene:
    return sx.Scene.from_text(SCENE, "ball.toml")


def test_values_are_read_as_written_and_defaults_where_none_is(scene: sx.Scene) -> None:
    assert scene.title == "One ball"
    assert scene.run.until == "1 ms"
    assert scene.world.gravity == [0, 0, "-9.81 m/s^2"]
    assert scene.interaction["glass-glass"].friction == 0.2
    assert scene["interaction.glass-glass.friction"] == 0.2
    assert scene.run.seed == 1
    assert scene.interaction["glass-glass"].normal == "hertz"
    assert scene.wall["floor"].temperature is None
    assert list(scene.wall) == ["floor"] and "floor" in scene.wall and "lid" not in scene.wall
    assert scene.stage[0].name == "fall" and scene.stage["fall"].until == "time > 0.5 ms"
    assert "until" in dir(scene.run) and "wall" in dir(scene)


def test_edits_keep_comments_and_order(scene: sx.Scene) -> None:
    scene.run.until = "2 ms"
    scene.interaction["glass-glass"].friction = np.float64(0.25)
    scene.wall["lid"] = {"material": "glass", "plane": {"point": (0, 0, 1.0), "normal": np.array([0, 0, -1.0])}}
    scene.stage.append({"name": "rest", "until": "time > 1 ms"})
    scene.title = "Two walls"
    text = scene.to_toml()
    assert text.startswith('# A ball on a floor.\ntitle = "Two walls"\n')
    assert 'until = "2 ms"     # short\n' in text
    assert "friction = 0.25\n" in text
    assert text.index("[wall.floor]") < text.index("[wall.lid]") < text.index("[[stage]]")
    assert text.count("[[stage]]") == 2
    again = sx.Scene.from_text(text)
    assert again == scene and again.to_dict() == scene.to_dict()
    assert again.wall["lid"].plane == {"point": [0, 0, 1.0], "normal": [0.0, 0.0, -1.0]}
    assert "seed = 1" in again.resolved()


def test_copies_are_edited_on_their_own(scene: sx.Scene) -> None:
    twin = copy.deepcopy(scene)
    twin.run.until = 1.0
    assert scene.run.until == "1 ms" and twin != scene


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("run.untill", "did you mean `until`?"),
        ("rum", "did you mean `run`?"),
        ("material.glass.young", "`youngs_modulus`"),
        ("wall.lid.material", "it has: floor"),
    ],
)
def test_unknown_words_are_refused_at_once(scene: sx.Scene, path: str, advice: str) -> None:
    with pytest.raises(KeyError) as refused:
        scene[path]
    assert advice in str(refused.value)
    with pytest.raises(AttributeError):
        scene.run.untill = 2
    with pytest.raises(sx.SeixoError):
        _ = scene.rum


def test_wrong_values_are_refused_where_they_are_set(scene: sx.Scene) -> None:
    before = scene.to_toml()
    with pytest.raises(sx.SceneError) as refused:
        scene.run.until = "2 m"
    (found,) = refused.value.diagnostics
    assert found.message == 'run.until: "2 m" is length [m], but time [s] belongs here'
    assert (found.file, found.line, found.key) == ("ball.toml", 5, "run.until")
    assert found.column == 9 and found.remedy
    assert "ball.toml:5:9" in str(refused.value)
    assert scene.to_toml() == before
    with pytest.raises(sx.SceneError):
        scene.wall["lid"] = {"materiel": "glass"}
    assert "lid" not in scene.wall
    with pytest.raises(TypeError):
        scene.run.until = object()


def test_check_says_what_the_command_says(scene: sx.Scene) -> None:
    found = scene.check()
    assert found.grains == 1 and found.time_step == pytest.approx(1e-5) and found.steps == 100
    assert str(found).startswith("ball.toml: One ball\n") and "time step" in str(found)
    scene.interaction["glass-glass"].restitution = None
    with pytest.raises(sx.SceneError, match="restitution"):
        scene.check()


def test_missing_files_are_errors_of_scenes(tmp_path: Path) -> None:
    with pytest.raises(sx.SceneError, match="cannot be opened"):
        sx.Scene.load(tmp_path / "none.toml")


def test_dictionaries_make_the_scene_of_the_text(scene: sx.Scene) -> None:
    made = sx.Scene.from_dict(scene.to_dict())
    assert made.to_dict() == scene.to_dict()
    assert "[wall.floor]" in made.to_toml() and "[[stage]]" in made.to_toml()
    assert made.resolved() == scene.resolved()


def test_templates_load(tmp_path: Path) -> None:
    assert "bounce" in sx.templates()
    scene = sx.Scene.template("mixer")
    assert (scene.path.parent / "mixer.stl").exists()
    with pytest.raises(ValueError, match="bounce"):
        sx.Scene.template("bonce")
    path = tmp_path / "saved.toml"
    sx.Scene.template("bounce").save(path)
    assert sx.Scene.load(path) == sx.Scene.template("bounce")


@pytest.mark.parametrize(("name", "count"), [("column", 1), ("conveyor", 2), ("wheel", 1)])
def test_saved_templates_have_their_files_beside_them(tmp_path: Path, name: str, count: int) -> None:
    scene = sx.Scene.template(name)
    text = scene.to_toml()
    scene.save(tmp_path / "saved.toml")
    folder = scene.path.parent
    assert scene.to_toml() == text
    del scene
    assert not folder.exists()
    saved = sx.Scene.load(tmp_path / "saved.toml")
    files = [path.name for path in tmp_path.iterdir() if path.suffix != ".toml"]
    assert len(files) == count and all(file in saved.to_toml() for file in files)
    # It reads them.
    assert str(tmp_path) in saved.resolved()


def test_grains_from_arrays_have_all_digits(scene: sx.Scene, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    position = 0.1 + random.random((20, 3))
    radius = 2e-3 * (1 + random.random(20))
    velocity = random.standard_normal((20, 3))
    scene.grains.add("bed", position=position, radius=radius, velocity=velocity, material="glass", id=np.arange(100, 120))
    rows = np.loadtxt(scene.grains["bed"].file, delimiter=",", skiprows=1)
    assert np.array_equal(rows[:, 1:4], position)
    assert np.array_equal(rows[:, 4], radius) and np.array_equal(rows[:, 5:8], velocity)
    assert scene.check().grains == 21
    path = tmp_path / "with_bed.toml"
    scene.save(path)
    saved = sx.Scene.load(path)
    del scene
    assert "/" not in saved.grains["bed"].file and saved.check().grains == 21


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({"position": np.zeros(3)}, "position has the shape"),
        ({"position": np.zeros((2, 3)), "radius": [1.0, 2.0, 3.0]}, "radius has the shape"),
        ({"position": [[0, 0, np.nan]]}, "finite"),
        ({"position": np.zeros((1, 3)), "id": [0.5]}, "whole numbers"),
        ({"position": np.zeros((2, 3)), "material": ["glass"]}, "1 names for 2 grains"),
    ],
)
def test_wrong_arrays_are_refused(scene: sx.Scene, arrays: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        scene.grains.add("bed", **arrays)  # type: ignore[arg-type]
    assert "bed" not in scene.grains


def test_a_pair_of_materials_is_found_in_both_orders() -> None:
    scene = sx.Scene.from_text("[interaction.corn-steel]\nfriction = 0.3\n[interaction.a-b-c]\nfriction = 0.1\n")
    assert scene.interaction["steel-corn"].friction == 0.3 and scene.interaction["c-a-b"].friction == 0.1
    scene.interaction["steel-corn"].friction = 0.4
    scene["interaction.steel-corn.restitution"] = 0.5
    assert "steel-corn" in scene.interaction
    assert scene.to_dict()["interaction"]["corn-steel"] == {"friction": 0.4, "restitution": 0.5}
    assert list(scene.to_dict()["interaction"]) == ["corn-steel", "a-b-c"]
    with pytest.raises(sx.UnknownKeyError, match='did you mean "corn-steel"'):
        scene.interaction["corn-stel"].friction = 0.2
    del scene.interaction["steel-corn"]
    assert scene.interaction.keys() == ["a-b-c"]


def test_a_section_of_a_list_does_not_become_another() -> None:
    text = "".join(f"[[stage]]\nname = \"{name}\"\nuntil = \"time > 1 s\"\n" for name in ("fill", "wait", "pull"))
    scene = sx.Scene.from_text(text)
    wait, run = scene.stage[1], scene.run
    wait.until = "time > 2 s"
    del scene.stage[0]
    with pytest.raises(LookupError, match=r"scene\.stage\[1\] was taken before"):
        wait.until = "time > 3 s"
    run.until = "5 s"
    assert [stage.until for stage in scene.stage] == ["time > 2 s", "time > 1 s"]
    wait = scene.stage["wait"]
    scene.stage.append({"name": "more", "until": "time > 9 s"})
    assert wait.name == "wait"
    del scene["stage.0"]
    with pytest.raises(LookupError):
        wait.name


def test_scenes_and_their_errors_go_to_other_processes() -> None:
    scene = sx.Scene.from_text("# Kept.\n[run]\nuntil = 1\n", "ball.toml")
    scene.grains.add("ball", position=[[0, 0, 1.0]], radius=0.5)
    sent = pickle.loads(pickle.dumps(scene))
    assert type(sent) is sx.Scene and sent.path == scene.path and "# Kept." in sent.to_toml()
    assert sent.grains["ball"].file != scene.grains["ball"].file
    assert Path(sent.grains["ball"].file).read_bytes() == Path(scene.grains["ball"].file).read_bytes()
    with pytest.raises(sx.SceneError) as wrong:
        sx.Scene.from_text("[run]\nunti = 3\n")
    error = pickle.loads(pickle.dumps(wrong.value))
    assert type(error) is sx.SceneError and str(error) == str(wrong.value)
    (found,), (expected,) = error.diagnostics, wrong.value.diagnostics
    assert (found.line, found.key, found.remedy, str(found)) == (2, "run.unti", expected.remedy, str(expected))
