"""The page of all names: up to date, complete, and with the texts of the compiled module."""

import importlib.util
import inspect
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

import seixo as sx

SCRIPT = Path(__file__).parents[1] / "reference.py"


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up.
    sys.modules["reference"] = module
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(reference: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert reference.main(["--check"]) == 0, capsys.readouterr().err


def test_a_change_of_a_docstring_is_seen(
    reference: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "seixo"
    shutil.copytree(reference.PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    monkeypatch.setattr(reference, "PACKAGE", package)
    source = package / "_simulation_parts.py"
    text = source.read_text()
    source.write_text(text.replace("Angle of rotation since the start [rad].", "Angle."))
    assert reference.main(["--check"]) == 1
    assert "out of date" in capsys.readouterr().err
    source.write_text(text.replace('"""Angle of rotation since the start [rad]."""', "pass"))
    assert reference.main(["--check"]) == 1
    assert "_simulation_parts.Wall.angle has no docstring" in capsys.readouterr().err
    source.write_text(text)
    initial = package / "__init__.py"
    initial.write_text(initial.read_text().replace('"templates",', '"templates",\n    "Part",').replace(
        "from ._simulation import", "from ._arrays import Part\nfrom ._simulation import"
    ))
    assert reference.main(["--check"]) == 1
    assert "seixo.Part is on no chapter" in capsys.readouterr().err


def test_the_stub_has_the_texts_of_the_compiled_module(reference: ModuleType) -> None:
    package = reference.Package(reference.PACKAGE)
    compiled = sys.modules["seixo._seixo"]
    differing: list[str] = []
    for name, node in package.module("_seixo").definitions.items():
        # A type of the stub alone.
        if name == "SweepOptions":
            continue
        documented = [(name, node, getattr(compiled, name))]
        if not isinstance(node, reference.ast.FunctionDef):
            members = [one for one in reference.functions(node) if not one.name.startswith("_")]
            documented += [(f"{name}.{one.name}", one, getattr(getattr(compiled, name), one.name)) for one in members]
        for path, definition, built in documented:
            text, there = reference.ast.get_docstring(definition) or "", inspect.getdoc(built) or ""
            if text.split() != there.split():
                differing.append(f"{path}: the stub has {text!r}, the module {there!r}")
    assert not differing, "\n".join(differing)


def test_all_that_can_be_called_has_a_docstring() -> None:
    for name in sx.__all__:
        if name.startswith("_"):
            continue
        public = getattr(sx, name)
        assert inspect.getdoc(public), name
        for member in vars(public) if inspect.isclass(public) else ():
            value = getattr(public, member)
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert inspect.getdoc(value), f"{name}.{member}"
