"""Names that are not there: what is said of them, and which was meant."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._seixo import SeixoError


class UnknownNameError(SeixoError, KeyError):
    """There is no part, array or column of this name; the message lists those that there are."""

    def __str__(self) -> str:
        # KeyError would show it in quotes.
        return str(self.args[0])


def similar(name: str, known: Iterable[str]) -> str | None:
    """The most similar of the known names, if one is similar."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), None)


def suggestion(name: str, known: Iterable[str]) -> str:
    """A question for the name that was meant, or nothing."""
    close = similar(name, known)
    return "" if close is None else f'; did you mean "{close}"?'


def unknown(what: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """The exception for a name, with the most similar of the known ones."""
    names = list(known)
    close = similar(str(name), names)
    meant = "" if close is None else f"; did you mean {close!r}?"
    there = f"there is {', '.join(names)}" if names else "the scene has none"
    return UnknownNameError(f"no {what} is named {name!r}: {there}{meant}")


def no_attribute(what: str, name: str, known: Iterable[str]) -> AttributeError:
    """The exception for an attribute, with the most similar of the known ones."""
    names = [one for one in known if not one.startswith("_")]
    close = similar(name, names)
    meant = "they" if close is None else f"did you mean {close}? They"
    return AttributeError(f"{what} have no {name}; {meant} have: {', '.join(names)}")


class Strict:
    """Refuses to set an attribute that the class does not have, as it would change nothing.

    Names that start with `_`, and those that a derived class declares, can be set.
    """

    __slots__ = ()
    # What instances are called.
    _what = "these"

    # Type checkers would let every name pass.
    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            declared = [one for base in type(self).__mro__ for one in inspect.get_annotations(base)]
            if not (name.startswith("_") or hasattr(type(self), name) or name in declared):
                raise no_attribute(self._what, name, [*dir(type(self)), *declared])
            super().__setattr__(name, value)
