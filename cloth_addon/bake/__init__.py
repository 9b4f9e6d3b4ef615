# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake as a generator, the job that steps it while Blender's window stays responsive, and its backend."""
