"""A letter as plain text and as HTML, of the same blocks.

Each kind is compiled once a language; a letter only fills in its values. That is what keeps sending fast: building an
`EmailMessage` for each letter takes longer than sending it.
"""

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from gatepass.base.language import Language
from gatepass.domain.mail.kinds import LetterKind
from gatepass.domain.mail.text import FIELD, FOLDER, Block, BlockKind, letter_text

# Control characters, line separators, and what turns the direction of text: none belongs into a line of a letter.
NOT_IN_A_LINE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")

HTML: Final = {
    BlockKind.TITLE: '<h1 class="ink" style="margin:0 0 20px;font-size:24px;line-height:31px;font-weight:700;'
    'color:#15202b;">{text}</h1>',
    BlockKind.PARAGRAPH: '<p class="ink" style="margin:0 0 16px;font-size:16px;line-height:24px;color:#15202b;">'
    "{text}</p>",
    BlockKind.CODE: '<p class="code ink" style="margin:8px 0 24px;padding:16px;font-size:32px;line-height:40px;'
    "letter-spacing:6px;font-weight:700;text-align:center;color:#15202b;background:#f2f4f6;border:1px solid #dde2e7;"
    'border-radius:8px;font-family:ui-monospace,Menlo,Consolas,monospace;">{value}</p>',
    BlockKind.FACT: '<tr><td class="soft rule" style="padding:8px 16px 8px 0;font-size:14px;line-height:20px;'
    'color:#5b6670;border-top:1px solid #dde2e7;vertical-align:top;">{text}</td>'
    '<td class="ink rule" style="padding:8px 0;font-size:16px;line-height:20px;color:#15202b;'
    'border-top:1px solid #dde2e7;width:75%;word-break:break-word;">{value}</td></tr>',
    BlockKind.BUTTON: '<p style="margin:24px 0;"><a class="button" href="{value}" style="display:inline-block;'
    "padding:14px 28px;font-size:16px;line-height:20px;font-weight:600;color:#ffffff;background:#1453b8;"
    'border-radius:8px;text-decoration:none;">{text}</a></p>',
    BlockKind.SMALL: '<p class="soft" style="margin:0 0 8px;color:#5b6670;">{text}</p>',
}
TEXT: Final = {
    BlockKind.TITLE: "{text}\n\n",
    BlockKind.PARAGRAPH: "{text}\n\n",
    BlockKind.CODE: "    {value}\n\n",
    BlockKind.FACT: "{text}: {value}\n",
    BlockKind.BUTTON: "{text}:\n{value}\n\n",
    BlockKind.SMALL: "-- \n{text}\n",
}
# Blocks that are left out if their value is empty.
OPTIONAL: Final = {BlockKind.FACT, BlockKind.BUTTON}
FACTS: Final = (
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:4px 0 8px;">',
    "</table>",
)


@dataclass(frozen=True, slots=True)
class Rendered:
    subject: str
    text: str
    html: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a letter with `{fields}`; it is left out if the field that it `needs` is empty."""

    form: str
    needs: str | None = None


@dataclass(frozen=True, slots=True)
class _Form:
    """A kind of letter in one language, ready to be filled in."""

    subject: str
    text: tuple[_Part, ...]
    html: tuple[_Part, ...]


def one_line(text: str) -> str:
    """The text without what could break a header or a line; a blank stands there instead."""
    return (text if text.isprintable() else NOT_IN_A_LINE.sub(" ", text)).strip()


def rendered(kind: LetterKind, language: Language, values: Mapping[str, str]) -> Rendered:
    form = _form(kind, language)
    plain = {name: one_line(value) for name, value in values.items()}
    escaped = {name: html.escape(value) for name, value in plain.items()}
    return Rendered(form.subject.format_map(plain), _filled(form.text, plain), _filled(form.html, escaped))


def _filled(parts: Iterable[_Part], values: Mapping[str, str]) -> str:
    return "".join(part.form.format_map(values) for part in parts if part.needs is None or values[part.needs])


@cache
def _form(kind: LetterKind, language: Language) -> _Form:
    text = letter_text(kind, language)
    frame = _literal((FOLDER / "frame.html").read_text())
    # In the frame alone, these two stand for themselves.
    frame = frame.replace("{{language}}", language).replace("{{subject}}", html.escape(text.subject))
    head, _, rest = frame.partition("<!-- blocks -->")
    middle, _, foot = rest.partition("<!-- small print -->")
    main = [block for block in text.blocks if block.kind is not BlockKind.SMALL]
    small = [block for block in text.blocks if block.kind is BlockKind.SMALL]
    return _Form(
        text.subject,
        tuple(_joined(_text_parts(text.blocks))),
        tuple(_joined([_Part(head), *_html_parts(main), _Part(middle), *_html_parts(small), _Part(foot)])),
    )


def _literal(text: str) -> str:
    """With its braces doubled, so that `format_map` gives it back as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _text_parts(blocks: Iterable[Block]) -> Iterable[_Part]:
    before: BlockKind | None = None
    for block in blocks:
        if before is BlockKind.FACT and block.kind is not BlockKind.FACT:
            yield _Part("\n")
        yield _part(TEXT[block.kind], block, block.text)
        before = block.kind


def _html_parts(blocks: Iterable[Block]) -> Iterable[_Part]:
    before: BlockKind | None = None
    for block in blocks:
        if block.kind is BlockKind.FACT and before is not BlockKind.FACT:
            yield _Part(FACTS[0])
        if before is BlockKind.FACT and block.kind is not BlockKind.FACT:
            yield _Part(FACTS[1])
        yield _part(HTML[block.kind], block, html.escape(block.text, quote=False))
        before = block.kind
    if before is BlockKind.FACT:
        yield _Part(FACTS[1])


def _part(form: str, block: Block, text: str) -> _Part:
    needs = FIELD.findall(block.value)[0] if block.kind in OPTIONAL else None
    return _Part(form.replace("{text}", text).replace("{value}", block.value), needs)


def _joined(parts: Iterable[_Part]) -> Iterable[_Part]:
    """Neighbours that are always there become one part: fewer to fill."""
    held = ""
    for part in parts:
        if part.needs is None:
            held += part.form
        else:
            yield _Part(held)
            yield part
            held = ""
    yield _Part(held)
