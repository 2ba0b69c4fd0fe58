"""The documentation as a site: built without a network, every link leads somewhere, nothing comes from elsewhere."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

ROOT = Path(__file__).parents[2]
EXPECTED = (
    "index", "start", "guide", "rules", "phones", "telegram", "agents", "api", "operations", "security",
    "architecture",
)  # fmt: skip
LOADING = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class PageReader(HTMLParser):
    """What a page links to, what it loads, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: list[str] = []
        self.pictures_without_text = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if named.get("id"):
            self.anchors.append(named["id"] or "")
        if tag == "a":
            self.links.append(named.get("href") or "")
        if tag in LOADING:
            self.loads.append(named.get(LOADING[tag]) or "")
        if tag == "img" and not named.get("alt"):
            self.pictures_without_text += 1


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    subprocess.run([sys.executable, ROOT / "dev" / "docs", folder], check=True, stdout=subprocess.DEVNULL, timeout=120)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, PageReader]:
    return {path: PageReader(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_there_with_its_title(site: Path) -> None:
    for name in EXPECTED:
        text = (site / f"{name}.html").read_text("utf-8")
        assert re.search(r"<title>[^<]*Handraise</title>", text)
        assert text.count("<h1>") == 1, name
        assert "{{" not in re.sub(r"<pre.*?</pre>|<code.*?</code>", "", text, flags=re.DOTALL), name


def test_every_link_leads_to_a_page_and_a_heading_in_it(site: Path, pages: dict[Path, PageReader]) -> None:
    for path, page in pages.items():
        for link in page.links:
            if link.startswith("https://"):
                continue
            address, anchor = urldefrag(link)
            target = (path.parent / unquote(address)).resolve() if address else path
            assert target.is_file(), f"{path.relative_to(site)} links to {link}"
            assert target.is_relative_to(site), link
            if anchor:
                assert unquote(anchor) in pages[target].anchors, f"{path.relative_to(site)} links to {link}"


def test_anchors_are_unique_and_pictures_have_a_text(pages: dict[Path, PageReader]) -> None:
    for path, page in pages.items():
        # A changelog has the same headings for each version.
        if path.stem != "changelog":
            assert len(page.anchors) == len({*page.anchors}), path.name
        assert not page.pictures_without_text, path.name


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, PageReader]) -> None:
    for path, page in pages.items():
        for address in page.loads:
            if not address.startswith("data:image/"):
                assert (path.parent / address).resolve().is_file(), f"{path.relative_to(site)} loads {address}"
    for file in (*site.glob("*.css"), site / "site.js"):
        assert "http" not in file.read_text("utf-8").replace("http://www.w3.org", ""), file.name


def test_every_markdown_page_of_the_docs_is_in_the_navigation(site: Path, pages: dict[Path, PageReader]) -> None:
    linked = {(site / link).resolve() for link in pages[site / "index.html"].links if "://" not in link}
    for source in (ROOT / "docs").rglob("*.md"):
        assert (site / source.relative_to(ROOT / "docs")).with_suffix(".html") in linked, source.name


def test_the_search_knows_every_section(site: Path) -> None:
    index = (site / "index.js").read_text("utf-8")
    for words in ("Rules cookbook", "operations.html#backup", "operations.html#restore", "rules.html#17-no-pushing"):
        assert words in index
