"""The command line: `python -m seixo run silo.toml` is `seixo run silo.toml`."""

from __future__ import annotations

import signal
import sys

from ._seixo import main as run_command


def main() -> None:
    """Runs the command line of this process, and leaves with its exit code."""
    # A run stops at Ctrl-C after a checkpoint, and other commands end at once, as without Python.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise SystemExit(run_command(["seixo", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
