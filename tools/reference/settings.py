"""The table of settings, from the class that reads them."""

from pydantic import SecretStr

from gatepass.base.settings import Settings


def generate() -> str:
    rows = ["| setting | default | what it does |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = _shown(field.get_default(call_default_factory=True))
        rows.append(f"| `GATEPASS_{name.upper()}` | {default} | {field.description} |")
    return "\n".join(rows)


def _shown(value: object) -> str:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    return "" if text is None or text == [] else f"`{text}`"
