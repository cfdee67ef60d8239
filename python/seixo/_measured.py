"""Numbers in SI units, from numbers and from texts with units, and vectors that are set as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._seixo import quantity_in

Floats = NDArray[np.float64]
Vector = tuple[float, float, float]


def measured(value: Any, unit: str) -> Floats:
    """An array of numbers in a unit; texts carry theirs. ValueError for a text of another unit."""
    if isinstance(value, np.ndarray) and cast("NDArray[Any]", value).dtype.kind in "fiub":
        return np.asarray(value, dtype=np.float64)
    return np.asarray(_read(value, unit), dtype=np.float64)


def _read(value: Any, unit: str) -> Any:
    if isinstance(value, str):
        return quantity_in(value, unit)
    if isinstance(value, np.ndarray) and cast("NDArray[Any]", value).dtype.kind in "UO":
        return _read(cast("NDArray[Any]", value).tolist(), unit)
    if isinstance(value, (list, tuple)):
        return [_read(item, unit) for item in cast("Iterable[Any]", value)]
    return cast(Any, value)


def vector(value: ArrayLike, what: str, unit: str) -> Vector:
    """Three finite numbers, in a unit; texts carry theirs."""
    try:
        numbers = measured(value, unit)
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise ValueError(f"{what} must be three finite numbers, not {value!r}; write it as in [0, 0, -0.1]")
    return (float(numbers[0]), float(numbers[1]), float(numbers[2]))


class _Shown(np.ndarray[Any, np.dtype[np.float64]]):
    """An array that cannot be written to, as this would not reach the simulation; `+=` and the like make a new one, which an attribute takes."""

    if not TYPE_CHECKING:

        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            # What is computed of it is a plain array.
            plain = [np.asarray(value) if isinstance(value, _Shown) else value for value in inputs]
            return getattr(ufunc, method)(*plain, **options)

        def __iadd__(self, other):
            return np.asarray(self) + other

        def __isub__(self, other):
            return np.asarray(self) - other

        def __imul__(self, other):
            return np.asarray(self) * other

        def __itruediv__(self, other):
            return np.asarray(self) / other

        def __setitem__(self, key, value):
            raise ValueError("one component cannot be set; set them all, as in velocity = [0, 0, 1], or change a .copy()")

        def copy(self, order="C"):
            return np.array(self, order=order, subok=False)

        def __repr__(self):
            return repr(np.asarray(self))

        def __reduce__(self):
            return np.asarray(self).__reduce__()


def shown(values: ArrayLike) -> Floats:
    """A copy that is set as a whole only: `wall.velocity = [0, 0, 1]` or `wall.velocity *= 2`, but not `wall.velocity[2] = 1`."""
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return cast(Any, array).view(_Shown)
