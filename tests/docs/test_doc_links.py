# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation points at pages, headings, files and modules that exist."""

import re
from pathlib import Path

from tests.cases import cases

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), ROOT / "examples" / "README.md", *(ROOT / "docs").rglob("*.md")])
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
FOLDERS = ("core", "cloth_addon", "tests", "presets", "benchmarks", "demo", "scripts", "examples")
FILE_NAMES = {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}
FILE_NAMES |= {path.name for path in ROOT.glob("*.*")}


def text_of(page):
    return page.read_text(encoding="utf-8")


def slugs(page):
    """Anchors of a page's headings, as GitHub and MkDocs make them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@cases("page", PAGES, ids=IDS)
def test_every_relative_link_of_a_page_leads_to_a_file_and_a_heading(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target} does not exist"
        assert not anchor or anchor in slugs(file), f"{target}: {sorted(slugs(file))}"


@cases("page", PAGES, ids=IDS)
def test_every_file_named_in_a_page_exists(page):
    """Paths count from the root; a bare name is that of any file. NAME and FAMILY stand for what a reader chooses."""
    files = re.findall(r"(?<![\w/.<])[a-z0-9_.-]+(?:/[a-z0-9_.-]+)*\.(?:py|toml)\b", text_of(page))
    places = re.findall(rf"`((?:docs|{'|'.join(FOLDERS)})(?:/[\w.-]+)*)/?`", text_of(page))
    assert [name for name in {*files, *places} if not (ROOT / name).exists() and name not in FILE_NAMES
            and not re.search("path/to|NAME|FAMILY", name)] == []


@cases("page", PAGES, ids=IDS)
def test_every_module_run_in_a_page_exists(page):
    for module in re.findall(r"python -m ((?:benchmarks|scripts)\.\w+)", text_of(page)):
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").exists(), f"{module} does not exist"


def test_every_page_of_the_documentation_can_be_reached_from_the_readme():
    found, open_pages = set(), [ROOT / "README.md"]
    while open_pages:
        page = open_pages.pop()
        if page in found:
            continue
        found.add(page)
        open_pages += [(page.parent / target).resolve()
                       for target in re.findall(r"\]\(([^)\s#:]+\.md)(?:#[\w-]*)?\)", text_of(page))]
    assert [str(page.relative_to(ROOT)) for page in PAGES if page not in found and page.parent != ROOT] == []
