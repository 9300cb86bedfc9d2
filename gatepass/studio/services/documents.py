"""The documents of the studio, docs/studio, as pages of the studio; and which of them explains a page.

A forge and the documentation's site show the same files. Here they need no other server.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from gatepass.studio.services.templates import HERE, ROOT

if TYPE_CHECKING:
    from markdown_it.token import Token

DOCS: Final = f"{ROOT}/docs"
FIRST: Final = "README"
# In the order of the contents.
NAMES: Final = (
    FIRST,
    "people",
    "keys",
    "request-log",
    "events",
    "tickets",
    "live",
    "devices",
    "webhooks",
    "audit-log",
    "settings",
)
# A page of the studio, as the beginning of its path after the mode, and the document that explains it.
EXPLAINED_BY: Final = (
    ("home", FIRST),
    ("find", FIRST),
    ("events/[^/]+/live", "live"),
    ("events/[^/]+/incidents", "live#incidents"),
    ("events/[^/]+/lead|lead", "live#the-leads-page-at-a-gate"),
    ("events/[^/]+/mail", "tickets#send-cards-by-mail"),
    ("events/[^/]+/imports", "tickets#import-a-list-of-guests"),
    ("events/[^/]+/cards", "tickets#print-and-export-cards"),
    ("events/[^/]+/tickets", "tickets"),
    ("events/(?:new|[^/]+/(?:cover|categories))", "events#make-an-event"),
    ("events/[^/]+/publish", "events#publish-an-event"),
    ("events/[^/]+/edit", "events#change-an-event"),
    ("events/[^/]+/cancel", "events#cancel-an-event"),
    ("events", "events"),
    ("tickets", "tickets"),
    ("cards", "tickets#find-a-card"),
    ("devices/pair", "devices#pair-a-device"),
    ("devices/[^/]+/revoke", "devices#end-a-device"),
    ("devices", "devices"),
    ("keys/new", "keys#make-a-key"),
    ("keys/[^/]+/roll", "keys#roll-a-key"),
    ("keys/[^/]+/revoke", "keys#revoke-a-key"),
    ("keys", "keys"),
    ("requests/.", "request-log#refused-calls"),
    ("requests", "request-log"),
    ("webhooks/types", "webhooks#message-types"),
    ("webhooks/new", "webhooks#add-an-endpoint"),
    ("webhooks/playground|webhooks/[^/]+/deliveries", "webhooks#find-out-why-a-message-did-not-arrive"),
    ("webhooks/[^/]+/replays", "webhooks#send-again"),
    ("webhooks/[^/]+/secret", "webhooks#change-the-secret"),
    ("webhooks/.", "webhooks#watch-an-endpoint"),
    ("webhooks", "webhooks"),
    ("audit", "audit-log"),
    ("team", "people#invite-change-or-remove-members"),
    ("settings/erasure", "settings#erase-a-holder"),
    ("settings/access", "settings#access-to-the-studio"),
    ("settings/signing-keys", "settings#signing-keys"),
    ("settings", "settings"),
    ("account|address", "people#protect-your-account"),
    ("welcome", "people#join-by-a-link"),
    ("sign-in|link|confirm|second-factor", "people#sign-in"),
    ("organizations", "people"),
)
PAGE: Final = re.compile(rf"{ROOT}/(?:(?:o/[^/]+/)?(?:live|sandbox)/)?(.*)")
# A page that no line names, such as one that does not exist, is explained by the first document.
PLACES: Final = [(re.compile(f"(?:{page})"), document) for page, document in EXPLAINED_BY]
# A wheel has them beside the templates, a checkout where a forge shows them.
INSTALLED: Final = HERE / "docs"
FOLDER: Final = INSTALLED if INSTALLED.is_dir() else HERE.parents[1] / "docs" / "studio"


@dataclass(frozen=True, slots=True)
class Document:
    name: str
    title: str
    text: Markup

    @property
    def short_title(self) -> str:
        return self.title.partition(":")[0]

    @property
    def url(self) -> str:
        return url_of(self.name)


def help_url(path: str) -> str:
    """The URL of the document that explains the page at this path."""
    page = PAGE.match(path)
    found = (document for place, document in PLACES if page and place.match(page[1]))
    return url_of(next(found, FIRST))


def url_of(document: str) -> str:
    name, hash, heading = document.partition("#")
    return (DOCS if name == FIRST else f"{DOCS}/{name}") + hash + heading


@cache
def contents() -> tuple[Document, ...]:
    return tuple(map(read, NAMES))


@cache
def pictures() -> frozenset[str]:
    return frozenset(path.name for path in FOLDER.glob("*.png"))


@cache
def read(name: str) -> Document:
    # The first page of a process that nobody asks for help does not wait for it.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = list(_adapted(markdown.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))))
    title = next(token.content for token in tokens if token.type == "inline")
    # Our own file, in which HTML is escaped.
    return Document(name, title, Markup(markdown.renderer.render(tokens, markdown.options, {})))  # noqa: S704


def _adapted(tokens: "Iterable[Token]") -> "Iterator[Token]":
    """Headings that links can name; links and pictures at the URLs that they have here."""
    heading = None
    for token in tokens:
        if heading is not None:
            heading.attrSet("id", anchor(token.content))
        heading = token if token.type == "heading_open" else None
        if token.type == "table_open":
            # A table that is wider than a phone scrolls by keyboard too.
            token.attrSet("tabindex", "0")
        if token.children:
            token.children = list(_linked(token.children))
        yield token


def anchor(heading: str) -> str:
    """As forges make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _linked(children: "list[Token]") -> "Iterator[Token]":
    is_here = True
    for child in children:
        if child.type == "image":
            child.attrs |= _picture(str(child.attrs["src"]))
        elif child.type == "link_open":
            url = _here(str(child.attrs["href"]))
            is_here = url is not None
            child.attrSet("href", url or "")
        if is_here or child.type not in ("link_open", "link_close"):
            yield from _opened(child)


def _picture(name: str) -> dict[str, str | int | float]:
    """With its size, so that a heading below it stays where a link has led while it loads."""
    with (FOLDER / name).open("rb") as file:
        width, height = struct.unpack(">16x2I", file.read(24))
    return {"src": f"{DOCS}/{name}", "width": width, "height": height, "loading": "lazy"}


def _here(link: str) -> str | None:
    """The URL of another of these documents. The service does not have the guides: a link to one is only text."""
    file, hash, heading = link.partition("#")
    name = file.removesuffix(".md")
    return url_of(name + hash + heading) if name in NAMES else link if not file else None


def _opened(child: "Token") -> "Iterator[Token]":
    """The path of a page of the studio is a link to it."""
    if child.type != "code_inline" or not PAGE.fullmatch(child.content + "/"):
        yield child
        return
    opening, closing = type(child)("link_open", "a", 1), type(child)("link_close", "a", -1)
    opening.attrSet("href", child.content)
    yield from (opening, child, closing)
