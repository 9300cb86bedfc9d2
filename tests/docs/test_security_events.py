"""The table of security events in docs/operate/observe.md has every event that the code writes, and no other."""

import ast
import re
from pathlib import Path

from gatepass.domain.security_log import PERSON, WARNINGS, Action
from tests.layout.tree import ROOT

PAGE = (ROOT / "docs" / "operate" / "observe.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## Security events")[2].partition("\n## ")[0]
ROWS = [line.split("|") for line in TABLE.splitlines() if line.startswith("| `")]
# Their names are put together at run time.
COMPOSED = {
    "member_joined", "member_role_changed", "member_removed", "event_tickets_exported",
    "event_tickets_with_holders_exported", "import_failed_rows_exported", "organization_audit_log_exported",
    "organization_second_factor_required", "organization_second_factor_not_required",
    "organization_studio_networks_chosen",
    "organization_suspended", "organization_resumed", "organization_closed", "organization_exported",
    "organization_erased", "device_paired", "device_retired", "device_revoked", "device_key_fetched",
    "pairing_code_contested",
}  # fmt: skip


def documented() -> dict[str, str]:
    """The level of each event."""
    return {name: row[2].strip() for row in ROWS for name in re.findall("`([a-z_]+)`", row[1])}


def written() -> set[str]:
    """The names in calls of `note_everywhere` and `security_log.record`."""
    found: set[str] = set(Action)
    for path in sorted(Path(ROOT / "gatepass").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                found |= _names(node)
    return found


def _names(call: ast.Call) -> set[str]:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    texts = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if name == "note_everywhere":
        return set(texts)
    if name == "record" and len(texts) == 2 and getattr(getattr(call.func, "value", None), "id", "") == "security_log":
        return {f"{texts[0]}_{texts[1]}" if texts[0] != PERSON else texts[1]}
    return set()


def test_every_event_is_in_the_table_and_no_other() -> None:
    assert written() | COMPOSED == set(documented())
    assert len(documented()) > 30


def test_the_table_has_the_levels() -> None:
    assert {name for name, level in documented().items() if level == "warning"} == set(WARNINGS)
