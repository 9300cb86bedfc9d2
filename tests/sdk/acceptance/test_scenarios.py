"""The scenarios of the public contract, unchanged, run through the SDK."""

from http.server import ThreadingHTTPServer

from tests.sdk.acceptance import test_redone
from tests.sdk.acceptance.scenarios import NOT_FOR_A_LIBRARY, REDONE, modules, names_in

MODULES = modules()
ELSEWHERE = {*NOT_FOR_A_LIBRARY, *REDONE}


class _ClosingServer(ThreadingHTTPServer):
    """The scenarios do not close the sockets of their receivers, and here that warning would be an error."""

    def shutdown(self) -> None:
        super().shutdown()
        self.server_close()


for _module in MODULES:
    vars(_module).update(ThreadingHTTPServer=_ClosingServer)
    globals().update({name: vars(_module)[name] for name in sorted(names_in(_module) - ELSEWHERE)})
    globals().update({name: vars(_module)[name] for name in ("subscribe",) if name in vars(_module)})


def test_no_scenario_is_forgotten() -> None:
    known = {name for module in MODULES for name in names_in(module)}
    assert len(known) > 40
    assert known >= ELSEWHERE, "an exception for a scenario that is no more"
    assert set(REDONE) == names_in(test_redone)
    assert known - ELSEWHERE <= set(globals())
