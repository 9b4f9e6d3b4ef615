# SPDX-License-Identifier: GPL-3.0-or-later
"""A signal that comes while kernels are compiled is not lost, and no kernel is."""

from __future__ import annotations

import os
import sys
import types

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")

COMPILER = """
import signal

def compiled(steps):
    try:
        steps.append("begun")
        signal.raise_signal(signal.SIGTERM)
    except BaseException:
        steps.append("lost")                   # as in a callback from C
    steps.append("compiled")
"""


@pytest.fixture
def interrupted(extension):
    """Install the handlers, and afterwards those of before."""
    traced = sys.gettrace()
    with extension.interruption.interrupted_by_signals():
        yield
    sys.settrace(traced)


def module_of(name):
    module = types.ModuleType(name)
    exec(COMPILER, vars(module))
    return module


@pytest.mark.parametrize("name", ["numba.core.dispatcher", "llvmlite.binding"])
def test_a_signal_in_the_compiler_interrupts_what_has_called_it_and_no_kernel_is_lost(interrupted, name):
    steps, compiler = [], module_of(name)

    def warm_up():
        compiler.compiled(steps)
        steps.append("went on")

    with pytest.raises(KeyboardInterrupt):
        warm_up()
    assert steps == ["begun", "compiled"]
    assert sys.gettrace() is None


def test_a_signal_elsewhere_interrupts_at_once(interrupted):
    steps = []
    module_of("solver").compiled(steps)
    assert steps == ["begun", "lost", "compiled"]
