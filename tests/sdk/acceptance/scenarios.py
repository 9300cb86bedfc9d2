"""The black-box scenarios of the public contract, loaded from the folder beside the repository."""

import importlib.util
import inspect
import os
from pathlib import Path
from types import ModuleType

FOLDER = Path(os.environ.get("ACCEPTANCE", Path(__file__).parents[4] / "shared" / "acceptance"))
FILES = ["test_contract", "test_webhooks"]

# Scenarios that cannot be run through a client library, and why.
NOT_FOR_A_LIBRARY = {
    "test_unknown_paths_and_methods_speak_the_same_language": "the SDK knows its own paths and methods only",
    "test_the_interface_describes_itself": "the SDK does not read the description; test_models.py holds it against it",
}
# Scenarios of which a part cannot be run through the SDK: test_redone.py has the rest, under the same names.
REDONE = {
    "test_a_call_without_a_key_is_401": "without a key there is no client",
    "test_an_invalid_key_is_401": "a header that holds no key cannot be sent",
    "test_bad_paging_is_400": "a limit is a number",
    "test_what_the_client_library_adds_is_accepted": "fields of the future cannot be sent",
    "test_an_invalid_request_is_400": "bytes that are not JSON cannot be sent",
    "test_a_body_over_the_limit_is_413": "a body is written by the SDK",
    "test_a_retry_key_has_a_length": "an empty key is none, and the SDK makes one",
    "test_a_bad_endpoint_is_400": "an endpoint without a URL or types cannot be written down",
}


def modules() -> list[ModuleType]:
    return [_loaded(name) for name in FILES]


def _loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"acceptance_{name}", FOLDER / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names_in(module: ModuleType) -> set[str]:
    found = inspect.getmembers(module, inspect.isfunction)
    return {name for name, function in found if name.startswith("test_") and function.__module__ == module.__name__}
