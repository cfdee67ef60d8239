"""What all tests need."""

from __future__ import annotations

import signal

# A shell may have started the tests with Ctrl-C ignored, and programs that they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
