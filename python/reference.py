"""Writes docs/reference/python-api.md, the reference of the Python package: `python3 python/reference.py`, or with `--check` only compares it.

Signatures and texts come from the sources and from the stub of the compiled module. So nothing has to be built or installed.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "seixo"
PAGE = ROOT / "docs" / "reference" / "python-api.md"
COMMAND = "python3 python/reference.py"

HEAD = f"""# Names of the Python package

<!-- Written by `{COMMAND}` from the docstrings; change those. -->

This page lists every public name of `import seixo as sx`, in the order in which a program uses them. [Python](python.md) is the guide.
Numbers are in SI units, and brackets have the unit. Parentheses have the shape of an array: (n, 3) is a row of three numbers for each of n grains.
"""

# Chapters in the order of use, with the modules and names of their entries.
CHAPTERS = (
    (
        "Scenes",
        "A scene is the text of a scene file. The [keys](scene.md) are those of the command line.",
        ("_scene.Scene", "_scene.templates", "_keys.Section", "_keys.Names", "_keys.Sections", "_grains.GrainsNames", "_scene.Check"),
    ),
    (
        "Runs",
        "A run steps a scene to its end and writes a [folder](output.md).",
        ("_scene.RunSection", "_runs.resume", "_runs.Run"),
    ),
    (
        "Results",
        "What a run wrote, read when it is used. A name that is not there raises a `KeyError`, and as an attribute an `AttributeError`.\n"
        "`to_pandas` and `to_polars` raise a `ModuleNotFoundError` where these packages are not installed.",
        (
            "_results.open",
            "_results.Results",
            "_frames.Frames",
            "_frames.Frame",
            "_arrays.Arrays",
            "_arrays.Grid",
            "_tables.Probes",
            "_tables.Probe",
            "_tables.Table",
            "_results.Checkpoint",
        ),
    ),
    (
        "Sweeps",
        "Runs of a scene with other values of its keys.",
        ("_sweep.sweep", "_sweep.Sweep", "_sweep.SweepResults", "_sweep.SweepPoint"),
    ),
    (
        "Simulations",
        "A simulation is a scene that the program steps itself. A name that the scene does not have raises a `KeyError`.",
        (
            "_simulation.Simulation",
            "_simulation_arrays.Grains",
            "_simulation_arrays.Fluid",
            "_simulation_arrays.Bonds",
            "_simulation_arrays.Contacts",
            "_simulation_arrays.Stress",
            "_simulation_arrays.Lines",
            "_simulation_parts.Named",
            "_simulation_parts.Wall",
            "_simulation_parts.Bodies",
            "_simulation_parts.Body",
            "_simulation_parts.Group",
            "_seixo.ExternalForce",
        ),
    ),
    (
        "Views without copies",
        "The arrays of the engine themselves, for a block of `with sim.hold() as now:`.",
        ("_seixo.Held", "_seixo.HeldGrains", "_seixo.HeldFluid", "_seixo.Array"),
    ),
    (
        "Errors",
        "Misuse of a function raises `ValueError`, `TypeError` or `LookupError`, as usual in Python. The other errors are these.",
        (
            "_seixo.SeixoError",
            "_seixo.SceneError",
            "_seixo.Diagnostic",
            "_seixo.RunError",
            "_seixo.FileError",
            "_keys.UnknownKeyError",
            "_names.UnknownNameError",
        ),
    ),
)

# Classes that users make themselves, and the method that has the signature.
MADE = {"_scene.Scene": "__init__", "_simulation.Simulation": "__new__", "_sweep.SweepResults": "__init__"}
# What other modules of the package use of a class.
INTERNAL = {
    "_scene.Scene": {
        *("kind_at", "value_at", "keys_at", "length_at", "set_at", "remove_at", "findings", "new_table", "keep_table", "with_tables"),
    },
    "_frames.Frames": {"of"},
}
# Special methods that are called by name in the page.
CALLED = {"__call__"}

Function: TypeAlias = ast.FunctionDef
WIDTH = 100


@dataclass
class Attribute:
    """A property or a field."""

    name: str
    type: str
    text: str
    is_settable: bool = False


@dataclass
class Method:
    """A function with its signatures."""

    name: str
    signatures: list[str]
    text: str

    @property
    def is_short(self) -> bool:
        """Whether a row of a table has room for it."""
        return len(self.signatures) == 1 and "\n" not in self.signatures[0] and "```" not in self.text


@dataclass
class Entry:
    """A function or class of the package."""

    key: str
    is_public: bool
    function: Method | None = None
    text: str = ""
    bases: list[str] = field(default_factory=list[str])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    methods: dict[str, Method] = field(default_factory=dict[str, Method])

    @property
    def name(self) -> str:
        """Its name without the module."""
        return self.key.partition(".")[2]


class Module:
    """A module of the package as its source has it."""

    def __init__(self, folder: Path, name: str) -> None:
        path = folder / f"{name}.py"
        self.name = name
        self.tree = ast.parse((path if path.exists() else path.with_suffix(".pyi")).read_text(encoding="utf-8"))
        self.definitions: dict[str, ast.ClassDef | Function] = {}
        self.aliases: dict[str, ast.expr] = {}
        self.imports: dict[str, tuple[str, str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                self.imports.update({one.asname or one.name: (node.module, one.name) for one in node.names})
        for node in self.tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                self.definitions[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, (ast.Subscript, ast.BinOp)):
                self.aliases[node.targets[0].id] = node.value


class Package:
    """The modules of the package, read as they are needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: dict[str, Module] = {}

    def module(self, name: str) -> Module:
        """A module by its name."""
        if name not in self.modules:
            self.modules[name] = Module(self.folder, name)
        return self.modules[name]

    def public(self) -> dict[str, str]:
        """Names of the package without those of modules, with the modules and names that they stand for."""
        module = self.module("__init__")
        for node in module.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                names: list[str] = ast.literal_eval(node.value)
                return {name: ".".join(module.imports[name]) for name in names if not name.startswith("_")}
        return {}

    def definition(self, module: Module, name: str) -> tuple[Module, ast.ClassDef | Function] | None:
        """Where a name of a module is defined in the package."""
        if name in module.definitions:
            return module, module.definitions[name]
        if name in module.imports:
            other, meant = module.imports[name]
            return self.definition(self.module(other), meant)
        return None

    def text_of(self, module: Module, node: ast.expr | None) -> str:
        """A type as a reader writes it: names that stand for a type are replaced by it."""
        if node is None:
            return ""
        package = self

        class Replace(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                home = module
                name = node.id
                while name in home.imports and name not in home.aliases:
                    other, name = home.imports[name]
                    home = package.module(other)
                if name in home.aliases:
                    return ast.parse(package.text_of(home, home.aliases[name]), mode="eval").body
                return node

        text = ast.unparse(Replace().visit(ast.parse(ast.unparse(node), mode="eval").body))
        return re.sub(r"\b(np|npt|os|numpy)\.", "", text)

    def signature(self, module: Module, node: Function, name: str, *, is_method: bool, is_maker: bool = False) -> str:
        """A call with the types of its arguments and of its result."""
        arguments = node.args
        ordered = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [*[None] * (len(ordered) - len(arguments.defaults)), *arguments.defaults]
        decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
        skipped = int(is_method and "staticmethod" not in decorators)

        def shown(argument: ast.arg, default: ast.expr | None, stars: str = "") -> str:
            text = f"{stars}{argument.arg}"
            if argument.annotation is not None:
                text += f": {self.text_of(module, argument.annotation)}"
            if default is None:
                return text
            return f"{text} = {ast.unparse(default)}" if argument.annotation is not None else f"{text}={ast.unparse(default)}"

        parts = [shown(argument, default) for argument, default in zip(ordered[skipped:], defaults[skipped:])]
        if arguments.vararg is not None:
            parts.append(shown(arguments.vararg, None, "*"))
        elif arguments.kwonlyargs:
            parts.append("*")
        parts += [shown(argument, default) for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
        if arguments.kwarg is not None:
            parts.append(shown(arguments.kwarg, None, "**"))
        result = "" if is_maker or node.returns is None else f" -> {self.text_of(module, node.returns)}"
        line = f"{name}({', '.join(parts)}){result}"
        if len(line) <= WIDTH:
            return line
        lines = [""]
        for part in parts:
            if lines[-1] and len(lines[-1]) + len(part) > WIDTH - 6:
                lines.append("")
            lines[-1] += f" {part}," if lines[-1] else f"{part},"
        return "\n".join([f"{name}(", *(f"    {line}" for line in lines), f"){result}"])

    def entry(self, key: str, name_in_page: str) -> Entry:
        """All that the page has of a function or class."""
        module_name, _, name = key.partition(".")
        module = self.module(module_name)
        node = module.definitions[name]
        entry = Entry(key, key in self.public().values(), text=ast.get_docstring(node) or "")
        if isinstance(node, ast.FunctionDef):
            entry.function = Method(name, [self.signature(module, node, name_in_page, is_method=False)], entry.text)
        else:
            self._add_class(entry, module, node)
            maker = MADE.get(key)
            if maker is not None:
                makers = [one for one in functions(node) if one.name == maker]
                signature = self.signature(module, makers[0], name_in_page, is_method=True, is_maker=True)
                entry.text = "\n\n".join(text for text in (entry.text, ast.get_docstring(makers[0])) if text)
                entry.function = Method(name, [signature], entry.text)
            for member in INTERNAL.get(key, ()):
                entry.methods.pop(member, None)
        return entry

    def _add_class(self, entry: Entry, module: Module, node: ast.ClassDef) -> None:
        """Adds the members of a class that the entry does not have yet, and then those of its bases."""
        for attribute in self._fields(module, node):
            entry.attributes.setdefault(attribute.name, attribute)
        new: dict[str, Method] = {}
        for function in functions(node):
            name, decorators = function.name, {ast.unparse(decorator) for decorator in function.decorator_list}
            text = ast.get_docstring(function) or ""
            if (name.startswith("_") and name not in CALLED) or name in entry.methods:
                continue
            if decorators & {"property", "cached_property"}:
                entry.attributes.setdefault(name, Attribute(name, self.text_of(module, function.returns), text))
            elif f"{name}.setter" in decorators:
                entry.attributes[name].is_settable = True
            else:
                self._add_method(new, module, function, text, prefix(entry))
        entry.methods.update(new)
        for base in node.bases:
            found = self.definition(module, ast.unparse(base).partition("[")[0])
            if found is None:
                continue
            home, definition = found
            if not isinstance(definition, ast.ClassDef):
                continue
            key = f"{home.name}.{definition.name}"
            if key in ALL_KEYS and key != entry.key:
                entry.bases.append(key)
            else:
                self._add_class(entry, home, definition)

    def _add_method(self, methods: dict[str, Method], module: Module, function: Function, text: str, before: str) -> None:
        name, decorators = function.name, {ast.unparse(decorator) for decorator in function.decorator_list}
        called = before if name in CALLED else f"{before}.{name}"
        signature = self.signature(module, function, called, is_method=True)
        method = methods.setdefault(name, Method(name, [], ""))
        # Of a function with several forms only these are shown, and the last definition has the text.
        if "overload" in decorators or not method.signatures:
            method.signatures.append(signature)
        method.text = text or method.text

    def _fields(self, module: Module, node: ast.ClassDef) -> Iterator[Attribute]:
        """Fields of the class and of its objects, with the texts below them."""
        bodies = [(node.body, False)]
        bodies += [(function.body, True) for function in functions(node) if function.name in ("__init__", "_prepare")]
        parameters = {
            argument.arg: argument.annotation for function in functions(node) if function.name == "__init__" for argument in function.args.args
        }
        for body, is_of_object in bodies:
            for statement, after in zip(body, [*body[1:], None]):
                if isinstance(statement, ast.AnnAssign):
                    target, annotation = statement.target, statement.annotation
                elif isinstance(statement, ast.Assign) and is_of_object:
                    target, annotation = statement.targets[0], None
                    if isinstance(statement.value, ast.Name):
                        annotation = parameters.get(statement.value.id)
                    elif isinstance(statement.value, ast.Call):
                        annotation = statement.value.func
                else:
                    continue
                name = ast.unparse(target)
                if is_of_object and not name.startswith("self."):
                    continue
                name = name.removeprefix("self.")
                if name.startswith("_") or not name.isidentifier():
                    continue
                text = ""
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
                    text = inspect.cleandoc(after.value.value)
                yield Attribute(name, self.text_of(module, annotation), text)


ALL_KEYS = [key for _, _, keys in CHAPTERS for key in keys]


def functions(node: ast.ClassDef) -> list[Function]:
    """The functions of a class."""
    return [one for one in node.body if isinstance(one, ast.FunctionDef)]


def escaped(text: str) -> str:
    """A text as Markdown: brackets and stars outside code have no meaning."""
    # Paragraphs are one line each.
    text = "\n\n".join(part if "```" in part else " ".join(part.split()) for part in text.split("\n\n"))
    pieces = re.split(r"(```.*?```|`[^`]*`)", text, flags=re.DOTALL)
    return "".join(piece if index % 2 else re.sub(r"([\[\]*])", r"\\\1", piece) for index, piece in enumerate(pieces))


def cell(text: str) -> str:
    """A text for a cell of a table."""
    return escaped(" ".join(text.split())).replace("|", r"\|")


def quoted(text: str) -> str:
    """A text as code in a cell of a table."""
    return f"`{text.replace('|', chr(92) + '|')}`"


def heading(entry: Entry) -> str:
    """The name of an entry in the page."""
    return f"sx.{entry.name}" if entry.is_public else f"{TITLES.get(entry.key, entry.name)} ({entry.name})"


def prefix(entry: Entry) -> str:
    """What stands before the names of methods."""
    name = entry.name if entry.is_public else TITLES.get(entry.key, entry.name)
    return re.split(r"[, ]", name)[0]


# Classes that users meet without making them, as they are met.
TITLES = {
    "_keys.Names": "scene.wall and other named sections",
    "_keys.Sections": "scene.stage and other lists of sections",
    "_grains.GrainsNames": "scene.grains",
    "_scene.RunSection": "scene.run",
    "_simulation_arrays.Grains": "sim.grains",
    "_simulation_arrays.Fluid": "sim.fluid",
    "_simulation_arrays.Bonds": "sim.bonds",
    "_simulation_arrays.Contacts": "sim.contacts()",
    "_simulation_arrays.Stress": "sim.stress()",
    "_simulation_arrays.Lines": 'sim.probe["NAME"]',
    "_simulation_parts.Named": "sim.wall, sim.group, sim.probe",
    "_simulation_parts.Wall": 'sim.wall["NAME"]',
    "_simulation_parts.Bodies": "sim.body",
    "_simulation_parts.Body": 'sim.body["NAME"]',
    "_simulation_parts.Group": 'sim.group["NAME"]',
    "_seixo.ExternalForce": "sim.external_force, sim.external_torque",
}


def rendered(package: Package, entry: Entry) -> list[str]:
    """The lines of an entry."""
    lines = [f"### {heading(entry)}"]
    if entry.function is not None:
        lines += ["```python", *entry.function.signatures, "```", ""]
    text = entry.text
    for of in (package.entry(base, "") for base in entry.bases):
        text += f" It has all that `{of.name}` has." if of.attributes or of.methods else f" It is also a `{of.name}`."
    lines += [escaped(text), ""]
    if entry.attributes:
        lines += ["| attribute | type | meaning |", "|---|---|---|"]
        for one in entry.attributes.values():
            settable = " It can be set." if one.is_settable and not re.search(r"\b[Ss]et(ting|s)?\b", one.text) else ""
            lines.append(f"| `{one.name}` | {quoted(one.type)} | {cell(one.text)}{settable} |")
        lines.append("")
    short = [method for method in entry.methods.values() if method.is_short]
    if short:
        lines += ["| call | meaning |", "|---|---|"]
        lines += [f"| {quoted(method.signatures[0])} | {cell(method.text)} |" for method in short]
        lines.append("")
    for method in entry.methods.values():
        if not method.is_short:
            lines += ["```python", *method.signatures, "```", "", escaped(method.text), ""]
    return lines


def undocumented(package: Package) -> list[str]:
    """Public names without a docstring."""
    found: list[str] = []
    for entry in (package.entry(key, "") for key in ALL_KEYS):
        members = {**entry.attributes, **entry.methods}
        found += [] if entry.text else [entry.key]
        found += [f"{entry.key}.{name}" for name, member in members.items() if not member.text]
    return found


def page(package: Package) -> str:
    """The whole page."""
    lines = [HEAD]
    for title, introduction, keys in CHAPTERS:
        lines += [f"## {title}", introduction, ""]
        for key in keys:
            entry = package.entry(key, f"sx.{key.partition('.')[2]}")
            lines += rendered(package, entry)
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Writes the page, or compares it; 1 if names lack docstrings or a place in it, or if it is out of date."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    options.add_argument("--check", action="store_true", help="only compare the page with the sources")
    chosen = options.parse_args(arguments)
    package = Package(PACKAGE)
    faults = [f"seixo.{name} is on no chapter of the page; add it to CHAPTERS" for name, key in package.public().items() if key not in ALL_KEYS]
    faults += [f"seixo.{name} has no docstring; write one with meaning, shape, unit and errors" for name in undocumented(package)]
    text = page(package)
    if chosen.check and not faults and (not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text):
        faults.append(f"{PAGE.relative_to(ROOT)} is out of date; run {COMMAND}")
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults and not chosen.check:
        PAGE.write_text(text, encoding="utf-8")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
