# SPDX-License-Identifier: GPL-3.0-or-later
"""The models a cloth can be made with: each turns a mesh and a fabric into element forces."""
