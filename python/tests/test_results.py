"""Results of runs: every array against a parser of its own, and against physics."""

from __future__ import annotations

import base64
import json
import mmap
import shutil
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import seixo as sx

BAR = """
title = "Bar"
[run]
until = "2 ms"
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
at = [[0, 0, "9.99 mm"], ["2 cm", 0, "9.99 mm"], ["4 cm", 0, "9.99 mm"]]
radius = "1 cm"
[grains.loose]
material = "stone"
at = [["10 cm", 0, "9.99 mm"]]
radius = "1 cm"
[bonds.cement]
among = ["bar"]
youngs_modulus = "10 MPa"
poisson_ratio = 0.2
damping_ratio = 0.1
tensile_strength = "1 MPa"
cohesion = "2 MPa"
friction_angle = "35 deg"
[wall.floor]
material = "stone"
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[output]
every = "0.5 ms"
fields = ["velocity", "force", "mass", "group", "pressure"]
contacts = true
coarse = { region = { min = ["-3 cm", "-3 cm", "-2 cm"], max = ["13 cm", "3 cm", "4 cm"] }, spacing = "5 mm", width = "1 cm" }
"""

WATER = """
title = "Water"
[run]
until = "2 ms"
[world]
gravity = [0, 0, -9.81]
[fluid.water]
density = 1000
artificial_viscosity = 0.05
support = 2.4
fill = { box = { min = [0, 0, 0], max = ["24 cm", "8 cm", "16 cm"] } }
spacing = "2 cm"
[wall.tank]
box = { min = [0, 0, 0], max = ["48 cm", "8 cm", "24 cm"], open = ["top"] }
[output]
every = "1 ms"
surface = true
"""

TYPES = {"Float64": "<f8", "Float32": "<f4", "UInt32": "<u4", "Int64": "<i8"}


def stored(path: Path) -> dict[tuple[str, str], np.ndarray]:
    """All packed arrays of a VTK file by group and name, flat."""
    arrays: dict[tuple[str, str], np.ndarray] = {}
    for group in ElementTree.parse(path).getroot().iter():
        for array in group.findall("DataArray"):
            if array.get("format") == "ascii":
                continue
            text = (array.text or "").strip()
            (blocks,) = struct.unpack_from("<Q", base64.b64decode(text[:32]))
            end = (24 + 8 * blocks + 2) // 3 * 4
            sizes = struct.unpack(f"<{3 + blocks}Q", base64.b64decode(text[:end]))[3:]
            packed, start, plain = base64.b64decode(text[end:]), 0, b""
            for size in sizes:
                plain += zlib.decompress(packed[start : start + size])
                start += size
            arrays[group.tag, array.get("Name", "")] = np.frombuffer(plain, TYPES[array.get("type", "")])
    return arrays


def scene_run(folder: Path, text: str) -> Path:
    scene = folder / "scene.toml"
    scene.write_text(text)
    sx.Scene.load(scene).run(folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def bounce(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bounce") / "out"
    sx.Scene.template("bounce").run(folder, until=0.3)
    return folder


@pytest.fixture(scope="module")
def bar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scene_run(tmp_path_factory.mktemp("bar"), BAR)


@pytest.fixture(scope="module")
def water(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scene_run(tmp_path_factory.mktemp("water"), WATER)


def copy(run: Path, to: Path) -> Path:
    return Path(shutil.copytree(run, to / "copy"))


def check_every_array(run: Path, part: str, points: str, folder: str = "fields", ending: str = "vtp") -> None:
    for frame in sx.open(run).frames:
        arrays = getattr(frame, part)
        found = stored(run / folder / f"{part}_{frame.index:06}.{ending}")
        assert found
        checked = set()
        for (group, name), expected in found.items():
            known = {"Points": points, "Verts": "", "Lines": ""}.get(group, name)
            if group == "Polys":
                known = {("walls", "offsets"): "offsets", ("surface", "connectivity"): "triangles"}.get((part, name), "")
            if known:
                values = arrays[known]
                assert values is getattr(arrays, known)
                if part == "coarse":
                    values = values.swapaxes(0, 2)
                assert np.array_equal(values.reshape(-1), expected), (part, known)
                assert values.dtype == (np.bool_ if known in ("is_wall", "is_in_chain") else expected.dtype), (part, known)
                checked.add(known)
        assert checked == set(arrays.keys())


def test_arrays_are_those_of_the_files(bounce: Path, bar: Path, water: Path) -> None:
    check_every_array(bounce, "grains", "position")
    check_every_array(bounce, "walls", "vertices")
    check_every_array(bar, "grains", "position")
    check_every_array(bar, "bonds", "ends")
    check_every_array(bar, "contacts", "ends", "contacts")
    check_every_array(bar, "coarse", "", "coarse", "vti")
    check_every_array(water, "fluid", "position")
    check_every_array(water, "surface", "vertices")


def test_frames_are_a_sequence(bounce: Path) -> None:
    frames = sx.open(bounce).frames
    assert len(frames) == 31
    assert np.allclose(frames.times, np.arange(31) * 0.01, rtol=0, atol=1e-9)
    assert (frames[-1].index, frames[3].index, frames[3].time) == (30, 3, frames.times[3])
    # A time step of 20 µs.
    assert frames[3].step == 1500
    assert [frame.index for frame in frames[::10]] == [0, 10, 20, 30]
    assert [frame.index for frame in frames] == list(range(31))
    assert (frames.at(0.104).index, frames.at(-1.0).index, frames.at(9.0).index) == (10, 0, 30)
    assert frames.at("104 ms").index == 10
    with pytest.raises(ValueError, match="is length"):
        frames.at("1 mm")
    with pytest.raises(IndexError, match="frame 31 does not exist; this run folder has frames 0 to 30"):
        frames[31]


def test_positions_are_those_of_the_probe_and_of_free_fall(bounce: Path) -> None:
    out = sx.open(bounce)
    probe = out.probe["above_clay"]
    for frame in out.frames[:24]:
        grains = frame.grains
        assert grains.position.shape == (3, 3) and len(grains) == 3
        ball = grains.position[np.argmax(grains.position[:, 0])]
        row = np.argmin(np.abs(probe.time - frame.time))
        assert abs(probe.time[row] - frame.time) < 1e-12
        assert np.allclose(ball, [probe.x[row], probe.y[row], probe.z[row]], rtol=0, atol=1e-14)
        assert ball[2] == pytest.approx(0.3 - 0.5 * 9.81 * frame.time**2, abs=1e-5)
        assert np.allclose(grains.velocity[:, 2], -9.81 * frame.time, rtol=0, atol=1e-3)


def test_the_ledger_balances(bounce: Path) -> None:
    ledger = sx.open(bounce).ledger
    columns = ledger.columns
    assert columns[0] == "time" and columns[-1] == "residual"
    assert set(ledger.units.values()) == {"s", "J"}
    minus = ("wall_work", "inserted", "initial")
    total = sum((-1.0 if name in minus else 1.0) * ledger[name] for name in columns[1:-1])
    scale = ledger.kinetic.max()
    assert scale > 0
    assert np.allclose(total, ledger.residual, rtol=0, atol=1e-12 * scale)
    assert np.array_equal(ledger["kinetic [J]"], ledger.kinetic)


def test_contacts_and_bonds_carry_the_forces_of_the_grains(bar: Path) -> None:
    out = sx.open(bar)
    frame = out.frames[-1]
    grains, contacts, bonds = frame.grains, frame.contacts, frame.bonds
    assert out.groups == ["bar", "loose"] and out.materials == ["stone"]
    (loose,) = np.flatnonzero(grains.group == out.groups.index("loose"))
    (touch,) = np.flatnonzero((contacts.a == grains.id[loose]) & contacts.is_wall)
    assert contacts.normal_force[touch] > 0
    assert grains.force[loose, 2] == pytest.approx(contacts.normal_force[touch], rel=1e-2)
    assert np.allclose(contacts.ends[touch, 1], grains.position[loose], rtol=0, atol=1e-12)
    assert len(bonds) == 2 and bonds.ends.shape == (2, 2, 3)
    for bond in range(2):
        for end, name in enumerate(("first", "second")):
            (grain,) = np.flatnonzero(grains.id == bonds[name][bond])
            assert np.allclose(bonds.ends[bond, end], grains.position[grain], rtol=0, atol=1e-12)
    assert grains.mass == pytest.approx(2500 * 4 / 3 * np.pi * 0.01**3)


def test_coarse_fields_have_the_mass_of_the_grains(bar: Path) -> None:
    frame = sx.open(bar).frames[-1]
    coarse = frame.coarse
    assert coarse.shape == coarse.density.shape and coarse.contact_stress.shape == (*coarse.shape, 3, 3)
    assert coarse.origin == pytest.approx([-0.0275, -0.0275, -0.0175]) and coarse.spacing == pytest.approx(0.005)
    mass = coarse.density.sum(dtype=np.float64) * coarse.spacing.prod()
    assert mass == pytest.approx(frame.grains.mass.sum(), rel=0.02)
    # The grains lie along x.
    x = (coarse.density.sum(axis=(1, 2), dtype=np.float64) * coarse.axes[0]).sum() / coarse.density.sum(dtype=np.float64)
    assert x == pytest.approx(frame.grains.position[:, 0].mean(), abs=1e-3)


def test_fluids_and_their_surface(water: Path) -> None:
    frame = sx.open(water).frames[-1]
    assert frame.fluid.spacing == 0.02 and frame.fluid.units["pressure"] == "Pa"
    assert len(frame.fluid) == 12 * 4 * 8 and (np.diff(frame.fluid.id.astype(np.int64)) > 0).all()
    assert frame.fluid.density == pytest.approx(1000, rel=0.1)
    assert frame.surface.triangles.max(initial=-1) < len(frame.surface.vertices)
    assert sx.open(water).fluids == ["water"]
    assert frame.walls.names == [f"tank.{face}" for face in ("left", "right", "front", "back", "bottom")]


def test_absent_parts_and_arrays_say_what_the_scene_lacks(bounce: Path, water: Path) -> None:
    frame = sx.open(bounce).frames[0]
    for part, remedy in (
        ("fluid", "add a section [fluid.NAME]"),
        ("bonds", "add a section [bonds.NAME]"),
        ("contacts", "set contacts = true under [output]"),
        ("coarse", "set coarse under [output]"),
        ("surface", "set surface = true under [output]"),
    ):
        arrays = getattr(frame, part)
        assert len(arrays) == 0 and not arrays and arrays.keys() == []
        with pytest.raises(AttributeError) as found:
            arrays.velocity
        assert remedy in str(found.value) and "frame 0" in str(found.value)
    with pytest.raises(AttributeError, match="section \\[grains.NAME\\]"):
        sx.open(water).frames[0].grains.position
    with pytest.raises(AttributeError, match='they have id, position, radius, velocity, force; add "torque" to fields'):
        frame.grains.torque
    with pytest.raises(KeyError, match='did you mean "velocity"'):
        frame.grains["velocty"]
    assert "velocity" in frame.grains and "torque" not in frame.grains
    assert {"position", "force", "to_pandas"} <= set(dir(frame.grains))
    assert frame.grains.units["force"] == "N"


def test_a_lost_file_of_a_frame_is_named(bounce: Path, tmp_path: Path) -> None:
    run = copy(bounce, tmp_path)
    (run / "fields" / "grains_000003.vtp").unlink()
    frames = sx.open(run).frames
    for use in (lambda: frames[3].grains.position, lambda: len(frames[3].grains), lambda: frames[3].grains.keys()):
        with pytest.raises(sx.FileError, match=r"grains_000003\.vtp: the run wrote it, as .*grains\.pvd says, but it is missing"):
            use()
    assert len(frames[4].grains) == 3 and not frames[3].fluid


def test_arrays_take_over_memory_and_are_read_only(bounce: Path) -> None:
    position = sx.open(bounce).frames[1].grains.position
    assert not position.flags.owndata and not position.flags.writeable
    with pytest.raises(ValueError):
        position[0] = 0.0
    position.copy()[0] = 0.0


def test_only_what_is_asked_for_is_read(bounce: Path, tmp_path: Path) -> None:
    run = copy(bounce, tmp_path)
    path = run / "fields" / "grains_000002.vtp"
    text = path.read_text()
    start = text.index(">", text.index('Name="velocity"')) + 1
    # The first bytes of the packed numbers, behind the 32 bytes of their header.
    path.write_text(text[: start + 44] + "AAAA" + text[start + 48 :])
    grains = sx.open(run).frames[2].grains
    assert grains.position.shape == (3, 3)
    with pytest.raises(sx.FileError, match="grains_000002.vtp: array `velocity` is damaged"):
        grains.velocity


def mapped_from(values: np.ndarray) -> bool:
    """Whether an array lies in a mapped file."""
    base: object = values
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
    return base is not None


def test_raw_frames_have_what_compressed_ones_have_and_are_mapped(bar: Path, tmp_path: Path) -> None:
    raw = sx.open(scene_run(tmp_path, BAR.replace("[output]", '[output]\nencoding = "raw"')))
    packed = sx.open(bar)
    assert len(raw.frames) == len(packed.frames) > 3
    for frame, other in zip(raw.frames, packed.frames):
        assert frame.time == other.time
        for part in ("grains", "bonds", "contacts", "walls", "coarse"):
            arrays, expected = getattr(frame, part), getattr(other, part)
            assert arrays.keys() == expected.keys()
            assert (len(arrays), arrays.names) == (len(expected), expected.names)
            for name in arrays.keys():
                assert arrays[name].dtype == expected[name].dtype
                np.testing.assert_array_equal(arrays[name], expected[name])
                assert not arrays[name].flags.writeable
    position = raw.frames[-1].grains.position
    assert mapped_from(position)
    assert position.flags.aligned
    assert not mapped_from(packed.frames[-1].grains.position)
    # What was mapped stays, also where a later run removes the file.
    kept = position.copy()
    for path in (tmp_path / "out" / "fields").iterdir():
        path.unlink()
    np.testing.assert_array_equal(position, kept)


def test_damaged_and_foreign_files_are_named(bounce: Path, tmp_path: Path) -> None:
    run = copy(bounce, tmp_path)
    path = run / "fields" / "grains_000002.vtp"
    whole = path.read_text()
    for text, problem in (
        (whole[:700], "cut off"),
        ("solid\n", "cut off, or no VTK file"),
        (whole.replace('compressor="vtkZLibDataCompressor"', ""), "compressor"),
    ):
        path.write_text(text)
        with pytest.raises(sx.FileError, match=f"grains_000002.vtp: .*{problem}"):
            sx.open(run).frames[2].grains.position
    (run / "probes" / "above_clay.csv").write_text("time [s],x [m]\n0.0,one\n")
    with pytest.raises(sx.FileError, match="above_clay.csv:2: `one` is not a number"):
        len(sx.open(run).probe.above_clay)
    (run / "run.json").write_text("{")
    with pytest.raises(sx.FileError, match="run.json:1"):
        sx.open(run)
    with pytest.raises(sx.FileError, match="is not a run folder \\(it has no run.json\\)"):
        sx.open(tmp_path)
    with pytest.raises(sx.FileError, match="this is a file"):
        sx.open(path)


def test_probes_have_columns_with_and_without_units(bounce: Path) -> None:
    out = sx.open(bounce)
    assert list(out.probe) == ["above_clay", "above_rubber", "above_wood"] and len(out.probe) == 3
    probe = out.probe["above_wood"]
    assert probe.columns == ["time", "x", "y", "z"] and probe.units["z"] == "m"
    assert probe["z"] is probe["z [m]"] and probe["z"] is out.probe.above_wood.z
    assert len(probe) == 301 and probe.result is None
    with pytest.raises(KeyError, match='no probe .above_wod.; .*did you mean "above_wood"'):
        out.probe["above_wod"]
    with pytest.raises(KeyError, match="no column 'mass'; the columns are time, x, y, z"):
        probe["mass"]
    with pytest.raises(AttributeError, match="only scenes with inlets"):
        out.exchange.time
    assert len(out.exchange) == 0


def test_whole_numbers_and_words_of_tables(bounce: Path, tmp_path: Path) -> None:
    run = copy(bounce, tmp_path)
    (run / "probes" / "outlet.csv").write_text("time [s],count,passed,share [-]\n0.0,1,NaN,1\n0.5,2,3,0\n0.7,")
    (run / "bonds.csv").write_text("time [s],first,kind (0 cement; 1 glue),mode (0 tension; 1 shear)\n0.1,7.0,1.0,0.0\n")
    (run / "results").mkdir()
    (run / "results" / "outlet.csv").write_text("from [s],to [s],grains\n0.0,1.0,5\n")
    out = sx.open(run)
    outlet = out.probe["outlet"]
    assert (outlet.count.dtype, outlet.passed.dtype, outlet.share.dtype) == (np.int64, np.float64, np.float64)
    assert outlet.count.tolist() == [1, 2] and outlet.units["share"] == ""
    assert isinstance(outlet.result, sx.Table) and outlet.result.grains.tolist() == [5]
    assert out.breaks.first.dtype == np.int64 and out.breaks.kind.tolist() == [1]
    assert out.breaks.codes == {"kind": {0: "cement", 1: "glue"}, "mode": {0: "tension", 1: "shear"}}
    assert out.profile.calls.dtype == np.int64 and "outputs" in out.profile["pass"].tolist()
    assert out.profile.share.sum() == pytest.approx(1, abs=1e-4)


def test_data_frames_of_pandas(bar: Path) -> None:
    pytest.importorskip("pandas")
    out = sx.open(bar)
    grains = out.frames[-1].grains
    table = grains.to_pandas()
    assert len(table) == 4 and list(table.columns[:5]) == ["id", "position_x", "position_y", "position_z", "radius"]
    assert np.array_equal(table["force_z"], grains.force[:, 2])
    assert list(out.ledger.to_pandas().columns) == out.ledger.columns
    assert "kinetic [J]" in out.ledger.to_pandas(units=True).columns
    coarse = out.frames[-1].coarse
    values = coarse.to_pandas()
    assert len(values) == len(coarse) and np.array_equal(values["contact_stress_xz"], coarse.contact_stress[..., 0, 2].ravel())
    heaviest = values.loc[values["density"].idxmax()]
    assert coarse.density.max() == heaviest["density"] and abs(heaviest["y"]) < 0.006


def test_data_frames_of_polars(bar: Path) -> None:
    pytest.importorskip("polars")
    out = sx.open(bar)
    contacts = out.frames[-1].contacts
    table = contacts.to_polars()
    assert table.height == len(contacts) and table["is_wall"].to_list() == contacts.is_wall.tolist()
    assert out.ledger.to_polars()["kinetic"].to_list() == out.ledger.kinetic.tolist()


def test_record_log_scene_and_checkpoint(bounce: Path) -> None:
    out = sx.open(bounce)
    assert out.record == json.loads((bounce / "run.json").read_text())
    assert (out.title, out.result) == ("Bouncing balls", "finished")
    assert out.log[0]["event"] == "started" and len(out.log) >= 2
    assert sorted(out.materials) == ["clay", "glass", "rubber", "wood"]
    assert isinstance(out.scene, sx.Scene)
    checkpoint = out.checkpoint()
    assert checkpoint.time == pytest.approx(0.3) and checkpoint.steps == 15000 and len(checkpoint) > 0
    assert all(isinstance(values, np.ndarray) for values in checkpoint.values())


def test_refresh_sees_what_was_added(bounce: Path, tmp_path: Path) -> None:
    run = copy(bounce, tmp_path)
    out = sx.open(run)
    before = out.probe["above_clay"]
    assert len(before) == 301
    with (run / "probes" / "above_clay.csv").open("a") as table:
        table.write("0.301,0.0,0.0,0.5\n0.302,0.0")
    assert len(out.probe["above_clay"]) == 301
    assert len(out.refresh().probe["above_clay"]) == 302 and len(before) == 301


def test_resume_continues_this_folder(bounce: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[Path, dict[str, object]]] = []
    monkeypatch.setattr(sx, "resume", lambda folder, **options: called.append((folder, options)))
    sx.open(bounce).resume(until=0.4)
    assert called == [(bounce, {"until": 0.4})]
