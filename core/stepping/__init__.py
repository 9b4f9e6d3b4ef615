# SPDX-License-Identifier: GPL-3.0-or-later
"""From frame to frame: adaptive steps, the simulation, and what is said of each frame."""
