"""A long sitting without a network: how soon a code is judged, and how much memory the scanner takes."""

from statistics import quantiles

import pytest

from tests import factory
from tests.browser.scanner.network import Network
from tests.browser.scanner.phone import Phone, new_phone
from tests.browser.studio import Stack
from tests.browser.visit import PHONE, Visitor
from tests.faults.gates import load
from tests.size import FULL, sized

pytestmark = pytest.mark.browser

SCANS = sized(short=60, full=10_000)
# Memory is compared with that after so many.
WARM = sized(short=20, full=500)
# What is wanted: milliseconds from the code to its verdict, of 95 in 100; and memory at the end against that when warm.
WITHIN_MS, GROWTH = 150, 1.2
# Shows numbers as a reader types them, each when the one before is judged; the milliseconds that each took.
SHOW_ALL = """async (numbers) => {
    const result = document.getElementById("result");
    const press = (key) =>
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const times = [];
    for (const number of numbers) {
        const judged = new Promise((resolve) => {
            const observer = new MutationObserver(() => {
                if (result.hidden) return;
                observer.disconnect();
                resolve(performance.now());
            });
            observer.observe(result, { attributeFilter: ["hidden"] });
        });
        [...number].forEach(press);
        const began = performance.now();
        press("Enter");
        times.push((await judged) - began);
        if (document.getElementById("result-word").textContent !== "ENTER") throw new Error(`${number} was refused`);
        document.getElementById("result-next").click();
    }
    return times;
}"""


async def test_a_long_sitting_without_a_network(
    tenant: factory.Tenant, stack: Stack, network: Network, visit: Visitor
) -> None:
    numbers = await load(tenant, SCANS)
    phone = await new_phone(tenant, stack, network.origin, await visit(viewport=PHONE))
    await phone.knows(SCANS)
    await network.cut()
    times = await phone.page.evaluate(SHOW_ALL, numbers[:WARM])
    warm = await memory_of(phone)
    for start in range(WARM, SCANS, 500):
        times += await phone.page.evaluate(SHOW_ALL, numbers[start : start + 500])
    grown = await memory_of(phone) / warm
    p50, p95 = (quantiles(times, n=100)[at] for at in (49, 94))
    speed = f"{p50:.0f} ms in the middle, {p95:.0f} ms for 95 of 100"
    print(f"{SCANS} scans: {speed}; memory {grown:.2f} of that after {WARM}")
    await phone.page.wait_for_function(
        "(text) => document.getElementById('status-waiting').textContent.startsWith(text)",
        arg=str(SCANS),
    )
    if FULL:
        assert p95 < WITHIN_MS
        assert grown < GROWTH


async def memory_of(phone: Phone) -> float:
    """Bytes of the script's own memory, when nothing is left to be collected."""
    session = await phone.page.context.new_cdp_session(phone.page)
    await session.send("HeapProfiler.collectGarbage")
    found = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return found["usedSize"]
