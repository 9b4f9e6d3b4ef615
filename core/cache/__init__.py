# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes on disk, frame by frame.

A *take* is one folder with the result of one bake: positions in Blender's PC2 format, a log of the frames with
velocities and certificates, and checkpoints from which the bake continues. Every prefix of these files is valid, so
that a bake that is killed at any moment keeps its frames.
"""
