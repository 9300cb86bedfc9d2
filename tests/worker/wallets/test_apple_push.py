"""Pushes over HTTP/2 to a real server that asks for our certificate: what each answer means, and broken connections."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gatepass.base.settings import Settings
from gatepass.domain.wallets import AppleCertificate
from gatepass.worker.wallets import http2
from gatepass.worker.wallets.apple_push import ApplePush, Outcome, push_tls
from tests.receivers import Answer, hang, reset, status
from tests.wallets.authority import PASS_TYPE, apple_settings
from tests.wallets.push_service import PushService, push_service, trusting


@asynccontextmanager
async def pushing(
    folder: Path, answers: Sequence[Answer] = (), otherwise: Answer = 200, alpn: str = "h2"
) -> AsyncGenerator[tuple[ApplePush, PushService]]:
    settings = Settings(**apple_settings(folder))
    certificate = AppleCertificate.of(settings)
    assert certificate is not None
    async with push_service(folder, answers, otherwise, alpn) as service:
        push = ApplePush(service.url, certificate, trusting(push_tls(settings, certificate)))
        yield push, service
        await push.close()


async def test_a_phone_is_told_with_our_certificate_and_nothing_of_its_card(tmp_path: Path) -> None:
    async with pushing(tmp_path) as (push, service):
        assert await push.push_all(["phone-1"]) == [(Outcome.TOLD, "")]
        (received,) = service.receiver.messages
    assert received.path == "/3/device/phone-1"
    assert received.body == b"{}"
    assert received.headers["apns-topic"] == received.headers["x-client-certificate"] == PASS_TYPE
    assert (received.headers["apns-push-type"], received.headers["apns-priority"]) == ("background", "5")


async def test_many_phones_are_told_over_one_connection(tmp_path: Path) -> None:
    tokens = [f"phone-{n}" for n in range(300)]
    async with pushing(tmp_path) as (push, service):
        assert {outcome for outcome, _ in await push.push_all(tokens)} == {Outcome.TOLD}
        connection = push._connection
        assert {outcome for outcome, _ in await push.push_all(tokens)} == {Outcome.TOLD}
        assert push._connection is connection
        assert sorted(service.pushed()) == sorted(tokens * 2)


@pytest.mark.parametrize(
    ("answer", "outcome", "reason"),
    [
        (status(410, b'{"reason": "Unregistered"}'), Outcome.GONE, "Unregistered"),
        (status(400, b'{"reason": "BadDeviceToken"}'), Outcome.GONE, "BadDeviceToken"),
        (status(400, b'{"reason": "DeviceTokenNotForTopic"}'), Outcome.REFUSED, "400 DeviceTokenNotForTopic"),
        (status(403, b'{"reason": "BadCertificate"}'), Outcome.REFUSED, "403 BadCertificate"),
        (status(429, b'{"reason": "\\u001b[31mred"}'), Outcome.REFUSED, "429"),
        (status(503, b"x" * 100_000), Outcome.REFUSED, "503"),
    ],
)
async def test_what_an_answer_means(tmp_path: Path, answer: Answer, outcome: Outcome, reason: str) -> None:
    async with pushing(tmp_path, [answer]) as (push, _service):
        assert await push.push_all(["phone"]) == [(outcome, reason)]
        assert await push.push_all(["phone"]) == [(Outcome.TOLD, "")]


async def test_a_broken_connection_fails_those_in_flight_and_the_next_one_is_new(tmp_path: Path) -> None:
    async with pushing(tmp_path) as (push, service):
        assert await push.push_all(["phone"]) == [(Outcome.TOLD, "")]
        service.proxy.process.kill()
        service.proxy.process.wait()
        ((outcome, reason),) = await push.push_all(["phone"])
        assert (outcome, bool(reason)) == (Outcome.FAILED, True)
    async with pushing(tmp_path, [reset]) as (push, _service):
        ((outcome, _),) = await push.push_all(["phone"])
        assert outcome in (Outcome.FAILED, Outcome.REFUSED)
        assert await push.push_all(["phone"]) == [(Outcome.TOLD, "")]


async def test_a_server_that_does_not_answer_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http2, "ANSWER_WITHIN", 0.3)
    async with pushing(tmp_path, [hang]) as (push, _service):
        ((outcome, reason),) = await push.push_all(["phone"])
        assert (outcome, reason) == (Outcome.FAILED, "TimeoutError")
        assert await push.push_all(["phone"]) == [(Outcome.TOLD, "")]


async def test_a_server_without_http2_and_one_that_is_not_trusted_get_nothing(tmp_path: Path) -> None:
    async with pushing(tmp_path, alpn="http/1.1") as (push, service):
        assert await push.push_all(["phone"]) == [(Outcome.FAILED, "the server does not speak HTTP/2")]
        assert service.receiver.messages == []
    settings = Settings(**apple_settings(tmp_path))
    certificate = AppleCertificate.of(settings)
    assert certificate is not None
    async with push_service(tmp_path) as service:
        push = ApplePush(service.url, certificate, push_tls(settings, certificate))
        ((outcome, reason),) = await push.push_all(["phone"])
        assert outcome is Outcome.FAILED
        assert "certificate verify failed" in reason
        assert service.receiver.messages == []
