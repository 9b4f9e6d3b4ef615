# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo, `make demo`: a tablecloth of 60 x 60 vertices dropped onto a ball that glides and turns.

Builds the scene by script, enables the extension from this checkout, bakes with the extension's own bake, and leaves

    build/demo/tablecloth.blend       plays in Blender 4.5 and later, also without the extension
    build/demo/certificate.json       the certificate of every frame
    docs/pictures/tablecloth.png      six frames

Needs the bpy package; `--no-pictures` leaves the rendering out.
"""

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "build" / "demo"
PICTURE = ROOT / "docs" / "pictures" / "tablecloth.png"
PICTURED = (1, 8, 14, 24, 42, 60)
MODULE = "bl_ext.checkout.muslin"


def enable_extension(folder: Path) -> None:
    """Registers the checkout as an installed extension would be: by a repository that holds it under its id."""
    import bpy

    os.symlink(ROOT, folder / "muslin", target_is_directory=True)
    repositories = bpy.context.preferences.extensions.repos
    repositories.new(name="Checkout", module="checkout", custom_directory=str(folder))
    bpy.ops.preferences.addon_enable(module=MODULE)
    if MODULE not in bpy.context.preferences.addons:
        raise SystemExit("the extension could not be enabled: see the messages above")


def bake(cloth: Any, ball: Any) -> list[dict[str, Any]]:
    """The certificate of each frame, as the bake goes on."""
    import bpy

    cloth.muslin.kind = "CLOTH"
    cloth.muslin.fabric = "cotton"
    ball.muslin.kind = "COLLIDER"
    steps = importlib.import_module(f"{MODULE}.cloth_addon.bake").bake(bpy.context.scene, [cloth], None)
    certificates = {}
    for progress in steps:
        if progress.certificate is not None and progress.frame not in certificates:
            certificates[progress.frame] = {"frame": progress.frame, **progress.certificate.as_dict()}
            left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
            print(f"\rframe {progress.frame}, {progress.fraction:.0%}{left}    ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return list(certificates.values())


def summary(certificates: list[dict[str, Any]], seconds: float) -> str:
    """What the certificates say of the whole bake, and where its time went."""
    def worst(key: str) -> float:
        return max(certificate[key] for certificate in certificates)

    simulated = [certificate for certificate in certificates if certificate["steps"]]
    stages: dict[str, float] = {}
    for certificate in simulated:
        for stage, spent in certificate["seconds"].items():
            stages[stage] = stages.get(stage, 0.0) + spent
    unconverged = sum(not certificate["converged"] for certificate in certificates)
    lines = [
        f"{len(certificates)} frames in {seconds:.1f} s, {seconds / max(len(simulated), 1) * 1e3:.0f} ms a frame",
        f"longest edge over its rest length    {worst('stretch_max'):.4f} (99 % of edges: {worst('stretch_p99'):.4f})",
        f"deepest point inside the ball        {worst('deepest_penetration') * 1e3:.3f} mm",
        f"edges through a surface, worst frame {worst('crossings'):.0f}",
        f"steps {sum(c['steps'] for c in simulated)}, conjugate gradient iterations "
        f"{sum(c['iterations'] for c in simulated)}, largest residual {worst('residual'):.1e}, "
        f"frames not converged: {unconverged}",
        "where the time went:",
    ]
    for stage, spent in sorted(stages.items(), key=lambda item: -item[1]):
        lines.append(f"    {stage:<20} {spent:6.1f} s")
    lines.append(f"    {'reading, writing':<20} {seconds - sum(stages.values()):6.1f} s")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-pictures", action="store_true", help="bake and save only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as profile, tempfile.TemporaryDirectory() as repository:
        os.environ["BLENDER_USER_RESOURCES"] = profile          # read when bpy is imported
        import bpy
        import pictures
        import scene

        cloth, ball = scene.build()
        enable_extension(Path(repository))
        print(f"Blender {bpy.app.version_string}: baking {len(cloth.data.vertices)} vertices", flush=True)
        start = time.perf_counter()
        certificates = bake(cloth, ball)
        seconds = time.perf_counter() - start
        print(summary(certificates, seconds))
        OUTPUT.mkdir(parents=True, exist_ok=True)
        (OUTPUT / "certificate.json").write_text(json.dumps(certificates, indent=1) + "\n")
        bpy.context.scene.frame_set(1)
        bpy.ops.wm.save_as_mainfile(filepath=str(OUTPUT / "tablecloth.blend"), compress=True)
        print("saved", (OUTPUT / "tablecloth.blend").relative_to(ROOT))
        if not arguments.no_pictures:
            start = time.perf_counter()
            pictures.contact_sheet(pictures.render(list(PICTURED), OUTPUT), PICTURE)
            print(f"rendered {PICTURE.relative_to(ROOT)} in {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
