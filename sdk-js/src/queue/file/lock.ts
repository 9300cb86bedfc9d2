/**
 * A lock on a file that ends with the process that holds it, however that ends. Node has no flock, so on Linux and
 * Windows it is a name in the system on which one process at a time can listen; elsewhere the file is opened for one.
 */

import { createHash } from "node:crypto";
import { close, constants, open, realpathSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";

// BSD and macOS: the process that has opened the file is the only one.
const O_EXLOCK = 0x20;

/** Returns what releases it; null if another has it. The folder of the file must exist. */
export function lockFile(path: string): Promise<(() => void) | null> {
  const real = join(realpathSync(dirname(path)), basename(path));
  const name = `gatepass-queue-${createHash("sha256").update(real).digest("hex")}`;
  if (process.platform === "linux") return listening(`\0${name}`);
  if (process.platform === "win32") return listening(`\\\\.\\pipe\\${name}`);
  return opened(`${real}-turn`);
}

function listening(name: string): Promise<(() => void) | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(null);
      else reject(error);
    });
    server.listen(name, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}

function opened(path: string): Promise<(() => void) | null> {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK;
  return new Promise((resolve, reject) => {
    open(path, flags, 0o600, (error, file) => {
      if (error === null) resolve(() => close(file, () => undefined));
      else if (error.code === "EAGAIN") resolve(null);
      else reject(error);
    });
  });
}
