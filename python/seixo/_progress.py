"""Progress of runs: a line on terminals and in notebooks, or a function of the user."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

Event = dict[str, Any]


def _scaled(number: float, unit: str) -> str:
    """A number with a decimal prefix, as the command line writes it."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")):
        if abs(number) >= factor:
            return f"{number / factor:.3g} {prefix}{unit}"
    return f"{number:.3g} {unit}"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole // 60 % 60:02} min"


class Line:
    """The line of a run: its share, simulated time, speed and the time that is left."""

    def __init__(self) -> None:
        self._begun: tuple[int, float] | None = None

    def text(self, event: Event) -> str:
        steps, end, wall = event["steps"], event["steps_at_end"], event["wall_time"]
        begun_at, begun = self._begun = self._begun or (steps, wall)
        done = steps / end if end else 1.0
        left = ""
        if steps > begun_at:
            left = f" · {_duration((wall - begun) * (end - steps) / (steps - begun_at))} left"
        bar = "━" * round(16 * done)
        return (
            f"{bar:16} {100 * done:3.0f} %  t = {_scaled(event['time'], 's')} of {_scaled(event['until'], 's')}"
            f" · {_scaled(event['particle_steps_per_second'], '').rstrip()} particle-steps/s{left}"
        )


def _notebook() -> Callable[[str], None] | None:
    """Shows a text in a notebook, in place of the one before; None outside notebooks."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ != "ZMQInteractiveShell":
        return None
    display: Any = import_module("IPython.display")
    shown = display.display(display.Pretty(""), display_id=True)
    return lambda text: shown.update(display.Pretty(text))


def _terminal() -> Callable[[str], None] | None:
    """Rewrites the last line of a terminal; None if errors go elsewhere."""
    if not sys.stderr.isatty():
        return None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return show


class Reporter:
    """Takes the lines of a run, and shows or hands on what they say."""

    def __init__(self, progress: bool | Callable[[Event], object]) -> None:
        self._listener = progress if callable(progress) else None
        is_shown = progress is True
        self._notebook = _notebook() if is_shown else None
        self._terminal = _terminal() if is_shown and self._notebook is None else None
        self._line = Line()

    def __call__(self, line: str) -> None:
        event: Event = json.loads(line)
        if self._listener is not None:
            self._listener(event)
        show = self._notebook or self._terminal
        if show is None:
            return
        if event["event"] == "progress":
            show(self._line.text(event))
        elif self._terminal is not None:
            for notice in [*event.get("notices", []), *([event["text"]] if event["event"] == "notice" else [])]:
                self._terminal(f"note: {notice}\n")

    def close(self) -> None:
        """Clears the line of a terminal; a notebook keeps it."""
        if self._terminal is not None:
            self._terminal("")
