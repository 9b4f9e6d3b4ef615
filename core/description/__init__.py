# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user says: meshes, fabrics, cloth, pins, seams, colliders, scenes and settings."""
