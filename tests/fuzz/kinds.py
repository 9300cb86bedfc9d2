"""The kinds of malformed requests: how one of each is made, and how many of a thousand there are."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from tests.fuzz.corpus import Corpus
from tests.fuzz.mutator import CONTENT, FRAMING, TOKENS, mutate
from tests.fuzz.pools import Pools
from tests.fuzz.template import Template, header_value

ODD_HEADERS: Final = (
    b"Idempotency-Key", b"Content-Type", b"Accept", b"Accept-Encoding", b"Accept-Language", b"If-None-Match",
    b"User-Agent", b"Cookie", b"Range", b"Expect", b"X-Request-Id", b"HX-Request", b"Origin", b"Referer",
    b"Forwarded", b"X-Forwarded-Proto",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """What requests are made of. `rng` is seeded for the request at hand."""

    corpus: Corpus
    pools: Pools
    rng: Random

    def changed(self, data: bytes, others: list[bytes]) -> bytes:
        return mutate(self.rng, data, others, CONTENT)


def framing(source: Source) -> bytes:
    """The bytes of a whole request, head and body, are changed."""
    return mutate(
        source.rng, _from_anywhere(source.corpus.any(source.rng), source.rng).raw(), source.corpus.raw, FRAMING
    )


def headers(source: Source) -> Template:
    template, name = source.corpus.any(source.rng), source.rng.choice(ODD_HEADERS)
    if source.rng.random() < 0.5:
        value = source.changed(source.rng.choice(source.pools.tokens), source.pools.bodies)
        return template.with_header(name, header_value(value)[:4_000])
    (at, value), kept = source.rng.choice(template.headers), template
    return kept.with_header(at, header_value(source.changed(value, list(TOKENS)))[:4_000])


def json_bodies(source: Source) -> Template:
    template = source.rng.choice([source.corpus.scan, source.corpus.scan, *source.corpus.bodies])
    body = source.rng.choice([template.body, source.rng.choice(source.pools.bodies)])
    return template.with_body(source.changed(body, source.pools.bodies))


def schema_cases(source: Source) -> Template:
    """A case of schemathesis, as it is or with other bytes in its body."""
    case = source.rng.choice(source.pools.cases)
    body = source.changed(case.body, source.pools.bodies) if case.body and source.rng.random() < 0.5 else case.body
    key = source.rng.choice([source.corpus.facts.key, source.corpus.facts.sandbox_key]).encode()
    return replace(case, body=body, headers=((b"Host", b"gate"), *case.headers)).with_header(
        b"Authorization", b"Bearer " + key
    )


def tokens(source: Source) -> Template:
    token = source.rng.choice([*source.corpus.tokens, source.rng.choice(source.pools.tokens)])
    token = source.changed(token, source.pools.tokens)[:2_000]
    if source.rng.random() < 0.5:
        quoted = b"".join(b"%%%02X" % byte for byte in token)
        return source.corpus.api(b"GET", b"/card/verify?token=" + quoted)
    text = token.decode("latin-1").translate({34: "\\u0022", 92: "\\\\", **{n: f"\\u{n:04x}" for n in range(32)}})
    body = f'{{"event_id":"{source.corpus.facts.event_id}","token":"{text}"}}'.encode()
    return source.corpus.scan_of_token.with_body(body)


def queries(source: Source) -> Template:
    template = source.rng.choice(source.corpus.reads)
    path, _, query = template.path.partition(b"?")
    query = source.changed(source.rng.choice([query, source.rng.choice(source.pools.queries)]), source.pools.queries)
    if source.rng.random() < 0.3:
        path = path[:20] + source.changed(path[20:], [])
    whole = path + b"?" + query[:4_000]
    return replace(template, path=bytes(byte for byte in whole if 32 < byte < 127))


def pages(source: Source) -> Template:
    template = source.rng.choice(source.corpus.pages)
    path, _, query = template.path.partition(b"?")
    changed = source.changed(query, source.pools.queries)[:2_000]
    return replace(template, path=path + b"?" + bytes(byte for byte in changed if 32 < byte < 127))


def forms(source: Source) -> Template:
    template = source.rng.choice(source.corpus.forms)
    return template.with_body(source.changed(template.body, [form.body for form in source.corpus.forms]))


def csv_files(source: Source) -> Template:
    """The file within a form that is right, or the form around it."""
    file = source.rng.choice([*source.corpus.files, source.rng.choice(source.pools.files)])
    if source.rng.random() < 0.7:
        return source.corpus.upload(source.changed(file, source.pools.files), source.rng)
    template = source.corpus.upload(file, source.rng)
    return template.with_body(source.changed(template.body, []))


def images(source: Source) -> Template:
    return source.corpus.cover(source.changed(source.rng.choice(source.corpus.pictures), source.corpus.pictures))


@dataclass(frozen=True)
class Kind:
    """`of_thousand` is its share. The pages of the studio cost ten times as much as calls of the API."""

    make: Callable[[Source], Template | bytes]
    of_thousand: int


KINDS: Final = {
    "HTTP framing": Kind(framing, 150),
    "headers": Kind(headers, 90),
    "JSON bodies": Kind(json_bodies, 290),
    "schema cases": Kind(schema_cases, 50),
    "tokens": Kind(tokens, 308),
    "queries": Kind(queries, 80),
    "pages": Kind(pages, 6),
    "forms": Kind(forms, 10),
    "CSV files": Kind(csv_files, 10),
    "images": Kind(images, 6),
}


def request(number: int, seed: int, client: int, corpus: Corpus, pools: Pools) -> tuple[str, bytes]:
    """The request of this number, and its kind: the same for the same seed and client."""
    rng = Random(f"{seed}/{client}/{number}")
    name = rng.choices(list(KINDS), [kind.of_thousand for kind in KINDS.values()])[0]
    if number < len(KINDS):
        name = list(KINDS)[number]
    made = KINDS[name].make(Source(corpus, pools, rng))
    if isinstance(made, bytes):
        return name, made
    return name, _from_anywhere(made, rng).raw()


def _from_anywhere(template: Template, rng: Random) -> Template:
    """Failed keys are counted by address, so each request has one of its own."""
    address = b"10.%d.%d.%d" % (rng.randrange(256), rng.randrange(256), rng.randrange(256))
    return template.with_header(b"X-Forwarded-For", address)
