"""`make docs`: the site in site/, each page also as Markdown, and `llms.txt` for language models."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
SITE: Final = ROOT / "site"
CONFIG: Final = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
HEADING: Final = re.compile(r"^# (.+)$", re.MULTILINE)
LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
STUDIO_PATH: Final = re.compile(r"<code>(/studio[a-z/-]*)</code>")
TABS: Final = re.compile(r"<!-- tabs -->(.*?)<!-- end of tabs -->", re.DOTALL)
TAB: Final = re.compile(r"<p><strong>([^<]+)</strong></p>")
LABEL: Final = '<label for="{}">{}</label>'
CONTENT: Final = '<div class="tabbed-block">{}</div>'
# A paragraph of text: not a heading, comment, list, table, picture or code.
PARAGRAPH: Final = re.compile(r"(?:^|\n\n)([A-Za-z`\[*][^\n]*(?:\n[^\n]+)*)")
SENTENCE: Final = re.compile(r"(.+?[.?])(?:\s|$)")
# A longer paragraph is reduced to its first sentence.
LONGEST: Final = 300


def build() -> None:
    """Fail on a broken link or anchor."""
    subprocess.run([Path(sys.executable).with_name("zensical"), "build", "--strict", "--clean"], cwd=ROOT, check=True)
    for page in pages():
        shutil.copy(DOCS / page, SITE / page)
    for page in SITE.rglob("index.html"):
        page.write_text(with_tabs(page.read_text(encoding="utf-8")), encoding="utf-8")
    for page in (SITE / "studio").rglob("index.html"):
        page.write_text(with_links(page.read_text(encoding="utf-8"), studio()), encoding="utf-8")
    (SITE / "llms.txt").write_text(index(), encoding="utf-8")
    (SITE / "llms-full.txt").write_text("\n\n".join(map(whole, pages())), encoding="utf-8")


def with_tabs(html: str) -> str:
    """What stands between two comments becomes tabs, as the theme draws them. A forge shows one below the other."""
    number = count(1)
    return TABS.sub(lambda found: _tabs(next(number), TAB.split(found[1])[1:]), html)


def _tabs(group: int, parts: list[str]) -> str:
    """`parts` are labels, each followed by its content."""
    labels, contents = parts[::2], parts[1::2]
    ids = [f"__tabbed_{group}_{n}" for n in range(1, len(labels) + 1)]
    choices = [f'<input id="{id}" name="__tabbed_{group}" type="radio">' for id in ids]
    choices[0] = choices[0].replace("<input", "<input checked")
    return (
        f'<div class="tabbed-set tabbed-alternate" data-tabs="{group}:{len(ids)}">{"".join(choices)}'
        f'<div class="tabbed-labels">{"".join(map(LABEL.format, ids, labels))}</div>'
        f'<div class="tabbed-content">{"".join(map(CONTENT.format, contents))}</div></div>'
    )


def studio() -> str:
    """Where the pages of the studio are that the documents explain. Without a setting it is that of `gatepass dev`."""
    return os.environ.get("GATEPASS_PUBLIC_URL", "http://localhost:8000").rstrip("/")


def with_links(html: str, origin: str) -> str:
    """The path of a page of the studio is a link to it. On a forge, which does not know the studio, it is only text."""
    return STUDIO_PATH.sub(rf'<a href="{origin}\1"><code>\1</code></a>', html)


def pages() -> list[str]:
    """Every page: first those of the navigation, in its order, then the others."""
    named = [page for _, some in sections() for page in some]
    return [*named, *sorted({str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} - set(named))]


def sections() -> list[tuple[str, list[str]]]:
    """The navigation: headings, each with its pages. Pages without a heading come under the first."""
    found: list[tuple[str, list[str]]] = [("Begin here", [])]
    for entry in CONFIG["nav"]:
        ((name, inside),) = entry.items()
        if isinstance(inside, str):
            found[0][1].append(inside)
        else:
            found.append((name, list(_leaves(inside))))
    return found


def _leaves(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        yield from entry.values()


def index() -> str:
    """https://llmstxt.org: a line for each page."""
    lines = [f"# {CONFIG['site_name']}", "", f"> {CONFIG['site_description']}"]
    named = sections()
    rest = [page for page in pages() if not any(page in some for _, some in named)]
    for heading, some in [*named, ("Optional", rest)]:
        lines += ["", f"## {heading}", "", *map(line, some)]
    return "\n".join([*lines, "", "All of them in one file: [llms-full.txt](llms-full.txt)", ""])


def line(page: str) -> str:
    text = (DOCS / page).read_text(encoding="utf-8")
    title = HEADING.search(text)
    return f"- [{title[1] if title else page}]({page}): {summary(text)}"


def summary(text: str) -> str:
    """The first paragraph of the page."""
    paragraph = PARAGRAPH.search(HEADING.sub("", text, count=1))
    plain = " ".join(LINK.sub(r"\1", paragraph[1]).split()) if paragraph else ""
    found = SENTENCE.match(plain) if len(plain) > LONGEST else None
    return (found[1] if found else plain).rstrip(":")


def whole(page: str) -> str:
    return f"<!-- {page} -->\n\n{(DOCS / page).read_text(encoding='utf-8').strip()}\n"


if __name__ == "__main__":
    build()
