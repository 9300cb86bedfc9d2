"""The directory of a gate: its database, the key that seals it, the device's own key, and a lock for one process."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from gatepass_sdk._base64url import decoded, encoded
from gatepass_sdk._gate.clock import GateClock, system_time
from gatepass_sdk._gate.device import Device
from gatepass_sdk._gate.signing import DeviceKey
from gatepass_sdk._gate.storage.database import FILE, GateDatabase
from gatepass_sdk._gate.storage.encryption import Sealer, key_in
from gatepass_sdk._gate.storage.journal import Journal
from gatepass_sdk.errors import GateError, GateInUse, QueueInUse

KEY_FILE: Final = "gate.key"


class GateStore:
    def __init__(
        self,
        directory: Path,
        key_file: Path | None,
        *,
        clock: Callable[[], datetime] = system_time,
        may_create: bool = True,
    ) -> None:
        is_new = not (directory / FILE).exists()
        if is_new and not may_create:
            raise GateError(f"{directory}: there is no gate. Pair one first.")
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise GateError(f"{directory}: the directory cannot be used ({error.strerror}).") from error
        self.directory = directory
        self.sealer = Sealer(key_in(key_file or directory / KEY_FILE, may_create=is_new))
        self.database = GateDatabase(directory / FILE, self.sealer)
        self.journal = Journal(self.database)
        self.clock = GateClock(clock, self._correction())

    @contextmanager
    def exclusive(self) -> Generator[None]:
        """The lock of a process that dies is released."""
        try:
            with self.database.exclusive():
                yield
        except QueueInUse as error:
            raise GateInUse(f"{self.directory}: another process works with this gate.") from error

    @property
    def device_key(self) -> DeviceKey:
        """Made once. A device that is paired again with the same key goes on with its journal."""
        kept = self.database.setting("device key")
        if kept is not None:
            return DeviceKey(decoded(kept["seed"]))
        made = DeviceKey.create()
        self.database.keep_setting("device key", {"seed": encoded(made.seed)})
        return made

    @property
    def device(self) -> Device | None:
        kept = self.database.setting("device")
        return None if kept is None else Device(**kept)

    def keep_device(self, device: Device) -> None:
        self.database.keep_setting("device", device.to_json())

    def keep_clock(self) -> None:
        self.database.keep_setting("clock", {"correction_ms": self.clock.correction / timedelta(milliseconds=1)})

    def _correction(self) -> timedelta:
        kept = self.database.setting("clock")
        return timedelta(milliseconds=kept["correction_ms"]) if kept else timedelta()

    def close(self) -> None:
        self.database.close()
