# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain Python functions, formulas and laws, made callable from compiled loops.

`register_jitable` tells Numba to compile a plain function wherever compiled code calls it. A function is registered
once: its options must not depend on which module is imported first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.extending import overload, register_jitable

from ..formulas import vectors
from .kernel_cache import named
from .options import INLINED, INNER

_seen: set[Callable[..., Any]] = set()


def register(module: ModuleType, options: dict[str, Any] = INNER) -> None:
    """Register all functions of a module, and with `INNER` those of the modules that it imports functions from."""
    for function in list(vars(module).values()):
        if isinstance(function, FunctionType) and function not in _seen:
            if function.__module__ != module.__name__:
                register(sys.modules[function.__module__])
            else:
                _seen.add(function)
                register_jitable(**options)(function)


# ---------------------------------------------------------------------- of numbers, not of arrays


def _power(base: Any, exponent: Any) -> Any:
    """Return base to the exponent; the usual exponents take a tenth of the time."""
    if exponent == 0.0:
        return 1.0
    if exponent == -1.0:
        return 1.0 / base
    if exponent == -2.0:
        return 1.0 / (base * base)
    return base ** exponent


_OF_NUMBERS: dict[Callable[..., Any], Callable[..., Any]] = {
    vectors.select: lambda condition, a, b: a if condition else b,
    vectors.minimum: lambda a, b: min(a, b),
    vectors.maximum: lambda a, b: max(a, b),
    vectors.clip: lambda a, low, high: min(max(a, low), high),
    vectors.divide: lambda numerator, denominator: numerator / denominator if denominator != 0.0 else 0.0,
    vectors.power: _power,
    vectors.whole: lambda a: np.int64(np.floor(a)),
}


def always(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that maps types of arguments to `function`, as Numba's `overload` expects."""
    return lambda *types: function


for _function, _compiled in _OF_NUMBERS.items():
    _name = f"{_function.__name__}_of_numbers"
    overload(_function, jit_options=INLINED, strict=False)(always(named(_compiled, _name, _name)))
_seen.update(_OF_NUMBERS)

register(vectors, INLINED)
