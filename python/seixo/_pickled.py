"""Scenes and their errors for other processes, as those of `multiprocessing`."""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._seixo import Diagnostic


@dataclass(frozen=True)
class SentDiagnostic:
    """A diagnostic that came from another process, with the attributes of `Diagnostic`."""

    file: str
    line: int | None
    column: int | None
    key: str | None
    message: str
    value: str | None
    limit: str | None
    remedy: str
    text: str

    def __str__(self) -> str:
        return self.text


def _sent(one: Diagnostic) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return SentDiagnostic, (one.file, one.line, one.column, one.key, one.message, one.value, one.limit, one.remedy, str(one))


copyreg.pickle(Diagnostic, _sent)
