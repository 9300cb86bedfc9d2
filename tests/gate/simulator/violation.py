"""The service or a gate did something else than the model says."""


class Violation(AssertionError):  # noqa: N818  as the judges of the other simulators
    pass


def expect(what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise Violation(f"{what}: the model says {wanted}, and it was {found}")
