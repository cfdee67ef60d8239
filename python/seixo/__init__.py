"""Seixo, a particle engine: scene file in, checked numbers and pictures out."""

from ._seixo import __version__

__all__ = ["__version__"]
