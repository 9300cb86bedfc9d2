"""The policies of the scanner's answers."""

from typing import Final

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "media-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
WORKER_POLICY: Final = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; frame-ancestors 'none'"
