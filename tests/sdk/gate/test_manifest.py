"""The SDK and the service answer every case of sdk/cases/manifest.json alike."""

import ast
import hashlib
import json
import struct
from base64 import b64decode
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

import gatepass_sdk
from gatepass.domain.manifest.records import GONE, ChangedCard, Records
from gatepass_sdk._gate.manifest import InvalidManifest, Manifest
from tools import manifest_builder, manifest_cases

FILE: Final[dict[str, Any]] = json.loads(manifest_cases.FILE.read_text())
KEYS: Final = [bytes.fromhex(key) for key in FILE["public_keys"]]
SDK: Final = Path(gatepass_sdk.__file__).parent.parent
# What the service alone can tell: it writes manifests, and does not read headers.
OF_RECORDS: Final = {None, "bad_signature", "wrong_digest", "wrong_state"}


def of_the_sdk(case: dict[str, Any]) -> tuple[str | None, Manifest | None]:
    try:
        manifest = Manifest.read(b64decode(case["manifest"]), KEYS, event_id=case["event_id"])
        for changes in case["changes"]:
            manifest = manifest.apply(b64decode(changes), KEYS)
    except InvalidManifest as refusal:
        return refusal.reason, None
    return ("expired", None) if manifest.is_expired(datetime.fromisoformat(case["at"])) else (None, manifest)


def of_the_service(case: dict[str, Any]) -> tuple[str | None, Records | None]:
    """Signature and records, by the service's own code and another library for signatures."""
    found = Records(b"", b"")
    for number, text in enumerate([case["manifest"], *case["changes"]]):
        body = b64decode(text)
        (length,) = struct.unpack_from(">I", body, 4)
        header, signature, records = body[8 : 8 + length], body[8 + length : 72 + length], body[72 + length :]
        if not any(is_signed(key, b"svc-manifest-1\0" + header, signature) for key in KEYS):
            return "bad_signature", None
        said = json.loads(header)
        if (said["count"] * 8, said["digest"]) != (len(records), hashlib.sha256(records).hexdigest()):
            return "wrong_digest", None
        if number:
            found, _ = found.apply(changed(records))
        else:
            found = Records(records, bytes(len(records) // 2))
        if said["state"] != hashlib.sha256(found.body).hexdigest():
            return "wrong_state", None
    return None, found


def is_signed(key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        VerifyKey(key).verify(message, signature)
    except BadSignatureError:
        return False
    return True


def changed(records: bytes) -> list[ChangedCard]:
    each = [records[at : at + 8] for at in range(0, len(records), 8)]
    return [ChangedCard(one[:6], bytes(4), None if one[6:] == GONE else one[6:]) for one in each]


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["name"])
def test_the_sdk_answers_as_written(case: dict[str, Any]) -> None:
    reason, manifest = of_the_sdk(case)
    assert reason == case["reason"]
    if manifest is not None:
        found = {number: manifest.find(number) for number in case["found"]}
        assert {number: one and vars(one) for number, one in found.items()} == case["found"]


@pytest.mark.parametrize(
    "case", [case for case in FILE["cases"] if case["reason"] in OF_RECORDS], ids=lambda case: case["name"]
)
def test_the_service_answers_as_written(case: dict[str, Any]) -> None:
    reason, records = of_the_service(case)
    assert reason == case["reason"]
    if records is not None:
        for number, said in case["found"].items():
            record = records.find(manifest_builder.hashed(number))
            assert record == (said and manifest_builder.record(number, **said))


def test_there_are_cases_of_every_kind() -> None:
    reasons = [case["reason"] for case in FILE["cases"]]
    assert len(reasons) >= 60
    assert len({case["name"] for case in FILE["cases"]}) == len(reasons)
    assert {*reasons} == {
        None, "expired", "malformed", "bad_signature", "wrong_digest", "wrong_event", "wrong_kind", "wrong_order",
        "wrong_salt", "wrong_state", "wrong_version",
    }  # fmt: skip


def test_the_file_is_what_its_tool_writes() -> None:
    assert manifest_cases.FILE.read_text() == manifest_cases.written()


def test_the_reader_needs_no_network() -> None:
    """A gate decides with it while nothing else works: no module that it imports is one of the network."""
    seen, waiting = set[str](), ["gatepass_sdk._gate.manifest"]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name.startswith("gatepass_sdk."):
            tree = ast.parse((SDK / f"{name.replace('.', '/')}.py").read_text())
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom) and node.module == "gatepass_sdk":
                    waiting += [f"gatepass_sdk.{one.name}" for one in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module is not None:
                    waiting.append(node.module)
                elif isinstance(node, ast.Import):
                    waiting += [one.name for one in node.names]
    assert "gatepass_sdk._ed25519" in seen
    assert not seen & {"httpx2", "socket", "ssl", "asyncio", "gatepass_sdk._transport"}
