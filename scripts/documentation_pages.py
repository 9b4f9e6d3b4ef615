# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks of MkDocs: pages of the site that are written elsewhere in the source tree, and links between all of them.

Pages are written for a reader of the source tree, with links relative to their own file. In the site, a link to a
file that has no page there becomes its text alone.
"""

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"README.md": "about.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md",
         "examples/README.md": "examples.md"}
"""Files of the source tree and the pages that they become."""
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
"""A link or a picture: exclamation mark, text, target, anchor."""
EXAMPLE = re.compile(r"\[(\w+\.py)\]\(\1\)\.\n")
"""The end of the sentence that names an example's file."""


def on_startup(**_: Any) -> None:
    """Make the folder in which the package is called `muslin`, as pip installs it."""
    package = ROOT / "build" / "docs" / "muslin"
    package.parent.mkdir(parents=True, exist_ok=True)
    if not package.is_symlink():
        os.symlink(ROOT / "core", package, target_is_directory=True)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of PAGES."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source.startswith("examples/"):
            text = EXAMPLE.sub(lambda match: f"`{match[1]}`.\n\n{_code(ROOT / 'examples' / match[1])}\n", text)
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links between files of the source tree into links between pages."""
    here = page.file.src_uri
    source = next((source for source, made in PAGES.items() if made == here), f"docs/{here}")

    def linked(match: re.Match[str]) -> str:
        mark, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        if ":" in target:                                               # of another site
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        found = PAGES.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if found is None:
            if not (ROOT / path).exists():
                raise FileNotFoundError(f"{source} has a link to {target}, which does not exist")
            return text
        return f"{mark}[{text}]({posixpath.relpath(found, posixpath.dirname(here) or '.')}{anchor})"

    return LINK.sub(linked, markdown)


def _code(path: Path) -> str:
    """Return a Python file as a block of Markdown, without the line of its licence."""
    _, _, text = path.read_text(encoding="utf-8").partition("\n")
    return f"```python\n{text}```"
