# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers in messages, as a person would write them."""

from __future__ import annotations

import math


def number_text(value: float, digits: int = 6) -> str:
    """Return a number with so many significant digits: 1000, 0.25, 3.5e-9.

    Numbers from 0.0001 to a million, and all with digits up to the point, are written out, with zeros in place of the
    digits that are left out: 1e+03 m is no length that a user has set.
    """
    if not math.isfinite(value):
        return str(float(value))
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    exponent = int(power)
    if -4 <= exponent < max(6, digits):
        text = f"{float(f'{mantissa}e{power}'):.{max(digits - 1 - exponent, 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{exponent}"
