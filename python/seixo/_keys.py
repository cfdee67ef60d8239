"""Sections of a scene: access to its keys by their names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

import numpy as np

from ._names import suggestion
from ._seixo import Place, SeixoError, place_at
from ._seixo import Scene as SceneText

Path = tuple[str, ...]


class UnknownKeyError(SeixoError, AttributeError, KeyError):
    """The language of scenes has no such key, or the scene has no such name."""

    def __str__(self) -> str:
        # KeyError would show it in quotes.
        return str(self.args[0])


@lru_cache(maxsize=4096)
def language(path: Path) -> Place:
    """What the language of scenes has at a path."""
    try:
        return place_at(list(path))
    except KeyError as error:
        raise UnknownKeyError(error.args[0]) from None


def plain(value: object) -> object:
    """A value as the scene takes it: NumPy scalars and arrays, tuples and paths as what they mean."""
    if isinstance(value, np.generic):
        return cast(Any, value).item()
    if isinstance(value, np.ndarray):
        return cast(Any, value).tolist()
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", value))
    if isinstance(value, Section):
        return value.to_dict()
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value)
        return {str(key): plain(inner) for key, inner in entries.items()}
    if isinstance(value, Iterable):
        return [plain(item) for item in cast("Iterable[object]", value)]
    return value


def parts(key: str | int) -> Path:
    """The keys of a dotted path."""
    return tuple(str(key).split("."))


def _as_written(scene: SceneText, path: Path) -> Path:
    """The path with the name that the scene has: `interaction.steel-corn` may stand there as `interaction.corn-steel`."""
    if len(path) < 2 or path[0] != "interaction" or scene.kind_at(list(path[:2])):
        return path
    words = path[1].split("-")
    turned = ("-".join([*words[cut:], *words[:cut]]) for cut in range(1, len(words)))
    return next((("interaction", name, *path[2:]) for name in turned if scene.kind_at(["interaction", name])), path)


def _removals(scene: SceneText, path: Path) -> int:
    """How often items were taken out of the lists that a path goes through; what follows them has other numbers then."""
    counts: dict[Path, int] = getattr(scene, "_removals", {})
    return sum(counts.get(path[:depth], 0) for depth in range(1, len(path)) if path[depth].isdigit())


def _count_removal(scene: SceneText, of: Path) -> None:
    counts: dict[Path, int] = getattr(scene, "_removals", {})
    object.__setattr__(scene, "_removals", {**counts, of: counts.get(of, 0) + 1})


def _note_change(scene: SceneText, path: Path, is_removal: bool) -> None:
    """Sections of a list that is replaced, or that has lost an item, are not those of before."""
    if language(path).is_list_of_tables:
        _count_removal(scene, path)
    elif is_removal and len(path) > 1 and language(path[:-1]).is_list_of_tables:
        _count_removal(scene, path[:-1])


def read(scene: SceneText, path: Path) -> Any:
    """What stands at a path: a value, a section, or the default of a key that the scene leaves out."""
    place = language(path)
    path = _as_written(scene, path)
    for depth in range(1, len(path)):
        if language(path[:depth]).has_names and not scene.kind_at(list(path[: depth + 1])):
            names = scene.keys_at(list(path[:depth]))
            known = f"{', '.join(names) or 'none'}{suggestion(path[depth], names)}"
            raise UnknownKeyError(f"{'.'.join(path[: depth + 1])}: the scene has no such name; it has: {known}")
    kind = scene.kind_at(list(path))
    if place.is_list_of_tables and kind in ("", "list"):
        return Sections(scene, path)
    if kind == "table" or (not kind and place.is_table and not place.is_value):
        return SECTIONS.get(path, Names if place.has_names else Section)(scene, path)
    return scene.value_at(list(path)) if kind else place.default


def write(scene: SceneText, path: Path, value: object) -> None:
    """Sets the value at a path; None removes it."""
    language(path)
    path = _as_written(scene, path)
    if value is None:
        scene.remove_at(list(path))
    else:
        scene.set_at(list(path), plain(value))
    _note_change(scene, path, is_removal=value is None)


def remove(scene: SceneText, path: Path) -> None:
    """Removes what stands at a path."""
    language(path)
    path = _as_written(scene, path)
    if not scene.remove_at(list(path)):
        raise UnknownKeyError(f"{'.'.join(path)}: the scene does not have it, so it cannot be deleted")
    _note_change(scene, path, is_removal=True)


class Section:
    """A table of a scene. Keys are attributes and items: `section.until`, `section["until"]`, `section["motion.velocity"]`.

    A key that the scene leaves out reads as its default, or as None. Numbers are SI; texts carry their units. Lists are copies:
    set the key to change one. Raises LookupError for a section of a list, such as a stage, once the list has lost an item.
    """

    __slots__ = ("_place", "_removals", "_scene")
    _scene: SceneText
    _place: Path
    _removals: int

    def __init__(self, scene: SceneText, path: Path) -> None:
        object.__setattr__(self, "_scene", scene)
        object.__setattr__(self, "_place", path)
        object.__setattr__(self, "_removals", _removals(scene, path))

    @property
    def _path(self) -> Path:
        if _removals(self._scene, self._place) != self._removals:
            taken = "".join(f"[{key}]" if key.isdigit() else f".{key}" for key in self._place).lstrip(".")
            raise LookupError(f"scene.{taken} was taken before an item of its list was deleted, and may be another one now; take it again")
        return self._place

    def _below(self, key: str | int) -> Path:
        return (*self._path, *parts(key))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return read(self._scene, (*self._path, name))

    def __setattr__(self, name: str, value: object) -> None:
        write(self._scene, (*self._path, name), value)

    def __delattr__(self, name: str) -> None:
        remove(self._scene, (*self._path, name))

    def __getitem__(self, key: str) -> Any:
        return read(self._scene, self._below(key))

    def __setitem__(self, key: str, value: object) -> None:
        write(self._scene, self._below(key), value)

    def __delitem__(self, key: str) -> None:
        remove(self._scene, self._below(key))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(self._scene.kind_at(list(_as_written(self._scene, self._below(key)))))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Section):
            return self.to_dict() == other.to_dict()
        return self.to_dict() == other

    __hash__ = None  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *language(self._path).keys, *self.keys()})

    def __repr__(self) -> str:
        return f"{'.'.join(self._path)}: {self.to_dict()}"

    def keys(self) -> list[str]:
        """The keys that the scene sets, in the order of its text."""
        return self._scene.keys_at(list(self._path))

    def values(self) -> list[Any]:
        """The values of `keys()`."""
        return [read(self._scene, (*self._path, key)) for key in self.keys()]

    def items(self) -> list[tuple[str, Any]]:
        """Keys and values."""
        return list(zip(self.keys(), self.values(), strict=True))

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or `default` if the scene does not set it."""
        return self[key] if key in self else default

    def update(self, values: Mapping[str, object]) -> None:
        """Sets several keys."""
        for key, value in values.items():
            self[key] = value

    def to_dict(self) -> dict[str, Any]:
        """A copy as a dictionary, without defaults."""
        return cast("dict[str, Any]", self._scene.value_at(list(self._path)) or {})


class Names(Section):
    """Sections that the user names, such as the walls: `scene.wall["lid"]`, or `scene.wall.lid`."""

    __slots__ = ()

    def _below(self, key: str | int) -> Path:
        # A name may have dots of its own.
        return (*self._path, str(key)) if key in self.keys() else (*self._path, *parts(key))


class Sections:
    """A list of tables of a scene, such as the stages: `scene.stage[0]`, `scene.stage["pull"]` by name, `scene.stage.append({...})`."""

    __slots__ = ("_path", "_scene")

    def __init__(self, scene: SceneText, path: Path) -> None:
        self._scene = scene
        self._path = path

    def _index(self, key: int | str) -> int:
        length = len(self)
        if isinstance(key, str):
            named = [index for index in range(length) if Section(self._scene, (*self._path, str(index))).get("name") == key]
            if not named:
                raise UnknownKeyError(f"{'.'.join(self._path)}: no item has the name `{key}`")
            return named[0]
        if not -length <= key < length:
            raise IndexError(f"{'.'.join(self._path)} has {length} items, so there is no item {key}")
        return key % length

    def __len__(self) -> int:
        return self._scene.length_at(list(self._path))

    def __getitem__(self, key: int | str) -> Section:
        return Section(self._scene, (*self._path, str(self._index(key))))

    def __setitem__(self, key: int | str, value: object) -> None:
        write(self._scene, (*self._path, str(self._index(key))), value)

    def __delitem__(self, key: int | str) -> None:
        remove(self._scene, (*self._path, str(self._index(key))))

    def __iter__(self) -> Iterator[Section]:
        return (self[index] for index in range(len(self)))

    def append(self, value: Mapping[str, object]) -> None:
        """Adds a table behind the last."""
        if len(self):
            write(self._scene, (*self._path, str(len(self))), value)
        else:
            write(self._scene, self._path, [value])

    def to_list(self) -> list[dict[str, Any]]:
        """A copy as a list of dictionaries."""
        return cast("list[dict[str, Any]]", self._scene.value_at(list(self._path)) or [])

    def __repr__(self) -> str:
        return f"{'.'.join(self._path)}: {self.to_list()}"


# Sections that can do more than hold keys.
SECTIONS: dict[Path, type[Section]] = {}
