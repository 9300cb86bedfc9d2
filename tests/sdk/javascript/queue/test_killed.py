"""A queue in Node that is killed again and again: each scan that was added activates its ticket once.

In CI 20 kills; with GATEPASS_FULL=1 200.
"""

import json
import subprocess
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.javascript.node import HERE, tool
from tests.sdk.stack import Stack
from tests.size import dice, sized

KILLS = sized(short=20, full=200)
AT_ONCE = 12
# Seconds from the opening of the file to the kill: more than a process has work for, now and then.
LONGEST_LIFE = 0.4
ENDS_WITHIN = 120


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("queue") / "queue_run.mjs"
    options = ["--bundle", "--format=esm", "--target=es2022", "--platform=node"]
    done = tool("esbuild", "queue_run.mts", *options, f"--outfile={built}", cwd=HERE / "queue")
    assert done.returncode == 0, done.stderr
    return built


class Queue:
    """One file, over all the lives of its process."""

    def __init__(self, program: Path, stack: Stack, path: Path) -> None:
        self._program = program
        self._known = {
            "path": str(path),
            "api_key": stack.key("live"),
            "base_url": stack.base_url,
            "event_id": stack.event_id,
        }
        # The card of each scan that is on the disk, by its id.
        self.added: dict[int, str] = {}
        self.verdicts: Counter[tuple[int, str, int]] = Counter()

    def live(self, cards: list[dict[str, Any]], dies_after: float | None) -> tuple[int, bool]:
        """One process. Returns how many cards it added, and whether it was killed."""
        plan = {**self._known, "guests": [(n, card["token"]) for n, card in enumerate(cards)]}
        with subprocess.Popen(
            ["node", str(self._program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            process.stdin.write(json.dumps(plan))
            process.stdin.close()
            added, ended = self._hear(process, cards, dies_after)
        assert ended or process.returncode == -9, process.returncode
        return added, not ended

    def _hear(
        self, process: "subprocess.Popen[str]", cards: list[dict[str, Any]], dies_after: float | None
    ) -> tuple[int, bool]:
        added, ended = 0, False
        assert process.stdout is not None
        for line in process.stdout:
            what, value = json.loads(line)
            if what == "opened" and dies_after is not None:
                timer = threading.Timer(dies_after, process.kill)
                timer.daemon = True
                timer.start()
            elif what == "added":
                self.added[value["id"]] = cards[value["n"]]["card_number"]
                added = value["n"] + 1
            elif what == "verdict":
                self.verdicts[value["id"], value["card"], value["status"]] += 1
            elif what == "ended":
                assert value == 0
                ended = True
        return added, ended


def test_each_scan_that_was_added_activates_once(large_stack: Stack, program: Path, tmp_path: Path) -> None:
    rng = dice()
    queue = Queue(program, large_stack, tmp_path / "scans.jsonl")
    cards, killed = [large_stack.unused() for _ in range(AT_ONCE)], 0
    while killed < KILLS:
        # Whoever stood there when it died may be in the file or not, and is not shown again.
        added, was_killed = queue.live(cards, rng.uniform(0, LONGEST_LIFE))
        killed += was_killed
        cards = cards[added + 1 :]
        cards += [large_stack.unused() for _ in range(AT_ONCE - len(cards))]
    queue.live([], None)
    activations = large_stack.activations()
    assert len(set(queue.added.values())) == len(queue.added)
    assert {card: activations.get(card, 0) for card in queue.added.values()} == dict.fromkeys(queue.added.values(), 1)
    told = {id: (card, status) for id, card, status in queue.verdicts}
    assert len(told) == len(queue.verdicts)
    assert {id: told.get(id) for id in queue.added} == {id: (card, 200) for id, card in queue.added.items()}
    repeated = sum(times > 1 for times in queue.verdicts.values())
    print(f"\n{killed} kills, {len(queue.added)} scans added, {len(told)} verdicts, {repeated} told again after a kill")
