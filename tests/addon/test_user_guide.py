# SPDX-License-Identifier: GPL-3.0-or-later
"""The script in the user guide runs as it stands there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import builders

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "user-guide.md"


def test_the_script_in_the_user_guide_bakes(extension, scene):
    sheet = builders.sheet(5, "Plane", height=1.0)
    builders.pin(sheet, {0: 1.0, 4: 1.0}, "Pins")
    builders.box("Sphere", size=0.2, kind="NONE")
    scene.frame_start, scene.frame_end = 1, 3
    (script,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)
    exec(script, {})
    assert [key.name for key in sheet.data.shape_keys.key_blocks][-1].endswith("0003")
    silk = extension.core.Material.preset("silk")
    assert abs(sheet.muslin.areal_density - silk.areal_density) < 1e-6
