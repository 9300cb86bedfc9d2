"""The runner itself: the faults that it must find, and the differences that it must accept."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs import page_runner
from tests.docs.conftest import surroundings
from tests.docs.output_matcher import alike, json_alike
from tests.docs.page_runner import PORTS, Reader
from tests.markdown_page import Page, pages
from tests.postgres import free_port

ONE, OTHER = "01a1df6b-422d-77ad-bd89-3394f3434729", "0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e10"


def follow(folder: Path, text: str, tab: str = "") -> None:
    ports = {port: str(free_port()) for port in PORTS}
    with ExitStack() as opened:
        Reader(folder, surroundings(ports), opened, ports).follow(Page(text, "page.md"), tab)


def test_a_page_is_followed_in_one_shell_and_one_interpreter(tmp_path: Path) -> None:
    follow(
        tmp_path,
        """
```bash
export NAME=Ada
```
```python
import os
name = os.environ["NAME"]
```
```python
print(name)
```
```text
Ada
```
```python title="hello.py"
print("hello from a file")
```
<!-- keeps running -->
```bash
python3 hello.py; sleep 1000
```
```text
hello from a file
```
```bash
echo 8000
```
```text
8000
```
""",
    )


TABBED = """
<!-- tabs -->

**curl**

```bash
export SAID=shell
```

**Python**

```python
said = "interpreter"
print(said)
```

```text
interpreter
```

<!-- end of tabs -->

```bash
echo "$SAID"
```

```text
shell
```
"""


def test_a_reader_stays_with_one_tab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_runner, "TOO_EARLY", 1.0)
    assert Page(TABBED).groups() == [["curl", "Python"]]
    assert [block.tab for block in Page(TABBED).blocks()] == ["curl", "Python", "Python", "", ""]
    follow(tmp_path, TABBED, "curl")
    with pytest.raises(AssertionError, match="printed"):
        follow(tmp_path, TABBED, "Python")


@pytest.mark.parametrize(
    "text",
    [
        "```bash\nfalse\n```",
        "```bash\nfalse | true\nno-such-command\n```",
        "```python\nraise ValueError\n```",
        '```bash\necho \'{"error":"no","code":"no"}\'\n```',
        "```text\nnothing was run\n```",
        "```cobol\nDISPLAY 'HELLO'.\n```",
        "    an indented block",
        "```\nno language\n```",
        '```python title="unused.py"\nprint(1)\n```',
        '```ini title=".env"\nGATEPASS_DATABSE_URL=x\n```\n```bash\ncat .env\n```',
        '```toml title="a.toml"\n= broken\n```\n```bash\ncat a.toml\n```',
    ],
)
def test_what_is_wrong_with_a_page_is_noticed(tmp_path: Path, text: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        follow(tmp_path, text)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a", "a\nb", False),
        ("a\nb", "a", False),
        ("…\nb", "a\nb", True),
        ("a\n…", "a\nb\nc", True),
        ("a\n…\nc", "a\nb\nd", False),
        (f"id {ONE}", f"id {OTHER}", True),
        ("00000000-0000-0000-0000-000000000071", "00000000-0000-0000-0000-000000000072", False),
        ("at 2026-01-01T18:30:00Z", "at 2027-02-02T19:40:00.123Z", True),
        ("Studio http://x/…", "Studio http://x/abc", True),
        ("Studio http://x/…", "Studio http://y/abc", False),
    ],
)
def test_text_is_compared_but_for_what_changes(shown: str, printed: str, same: bool) -> None:
    assert alike(shown, printed) is same


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ('{"a": 1}', '{"a":1}', True),
        ('{"a": 1}', '{"a":2}', False),
        ('{"a": null}', '{"a":1}', False),
        ('{"a": 1}', '{"a":1,"b":2}', False),
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}', False),
        ('{"a": []}', '{"a":[1]}', False),
        (f'{{"id": "{ONE}"}}', f'{{"id":"{OTHER}"}}', True),
        ('{"next_cursor": "x"}', '{"next_cursor":"y"}', True),
        ('{"next_cursor": null}', '{"next_cursor":"y"}', False),
        ('{"a": 1}', "not JSON", False),
    ],
)
def test_an_answer_is_compared_but_for_what_changes(shown: str, printed: str, same: bool) -> None:
    assert json_alike(shown, printed) is same


# Blocks that cannot be run here, and why. Keep it short.
NOT_RUN = {
    ("docs/performance.md", "an hour, and 25 GB of disk"),
    ("sdk/README.md", "needs a published package"),
    ("sdk-js/README.md", "needs a published package"),
    ("docs/reference/sdk-js.md", "needs a published package"),
    ("sdk-js/README.md", "needs a browser, and a person who confirms"),
    ("deploy/README.md", "needs Docker; tests/deploy follows the files as processes"),
    ("deploy/README.md", "needs root and systemd; tests/deploy follows the units"),
    ("deploy/ha/README.md", "needs three machines and systemd; tests/ha starts the same files"),
    ("deploy/kubernetes/README.md", "needs Kubernetes"),
    ("docs/operate/back-up.md", "make restore-drill runs it, with the same two files"),
}
MOST_NOT_RUN = 12


def test_hardly_anything_is_not_run() -> None:
    found = [(page.name, block.not_run) for page in pages() for block in page.blocks() if block.not_run]
    print("\nnot run:", *(f"{page}: {reason}" for page, reason in found), sep="\n  ")
    assert set(found) == NOT_RUN
    assert len(found) <= MOST_NOT_RUN
