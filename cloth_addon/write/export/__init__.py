# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of baked cloth: Alembic, USD, glTF, FBX, OBJ sequences, and point caches PC2 and MDD."""
