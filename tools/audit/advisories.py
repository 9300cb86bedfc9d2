"""Known vulnerabilities, by pip-audit and `npm audit`, where their databases can be reached.

A mirror may serve packages and know of no advisory: then pip-audit finds nothing and says that all is well. So a
version with known vulnerabilities is asked for first, and only a database that names them is believed.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

KNOWN_BAD: Final = "jinja2==2.10"
# Seconds. A hundred requirements take about twenty.
LONGEST: Final = 240
# Seconds for the first question, with all its tries.
FIRST_QUESTION: Final = 30


def of_python(files: Sequence[Path], osv_url: str | None, seconds: int) -> list[str] | None:
    """A sentence for each vulnerable requirement, or None if no database can be reached."""
    services = [["-s", "osv", "--osv-url", osv_url]] if osv_url else [["-s", "pypi"], ["-s", "osv"]]
    for chosen in services:
        service = [*chosen, "--timeout", str(seconds)]
        if _is_believable(service):
            answer = _pip_audit([*service, *(word for file in files for word in ("-r", str(file)))], LONGEST)
            return _sentences(answer) if answer is not None else ["pip-audit did not end its work"]
    return None


def _is_believable(service: list[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "known-bad.txt"
        asked.write_text(f"{KNOWN_BAD}\n")
        answer = _pip_audit([*service, "-r", str(asked)], FIRST_QUESTION)
    return answer is not None and any(one.get("vulns") for one in answer)


def _pip_audit(options: list[str], longest: float) -> list[dict[str, Any]] | None:
    """What it found for each requirement, or None if it could not look."""
    program = str(Path(sys.executable).with_name("pip-audit"))
    fixed = ["--disable-pip", "--no-deps", "--progress-spinner", "off", "-f", "json"]
    try:
        done = subprocess.run([program, *fixed, *options], check=False, capture_output=True, text=True, timeout=longest)
        return json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        return None


def _sentences(answer: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for one in answer:
        if "skip_reason" in one:
            found.append(f"{one['name']} was not looked up: {one['skip_reason']}")
        for known in one.get("vulns", []):
            fixed = ", ".join(known["fix_versions"]) or "no version yet"
            found.append(f"{one['name']} {one['version']} has {known['id']}; fixed in {fixed}")
    return found


def of_npm(folder: Path, seconds: int) -> list[str] | None:
    """The same for the packages of a folder with a lock file of npm."""
    asked = ["npm", "audit", "--audit", "--json", "--fetch-timeout", str(seconds * 1000), "--fetch-retries", "0"]
    try:
        done = subprocess.run(asked, cwd=folder, check=False, capture_output=True, text=True, timeout=FIRST_QUESTION)
        report = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    if "auditReportVersion" not in report:
        return None
    return [f"{name} ({one['severity']}): see npm audit" for name, one in report["vulnerabilities"].items()]
