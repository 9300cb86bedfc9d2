// Why there is no picture, as a code that the app has words for in each language.

export type CameraFaultCode =
  | "denied" // the person, or a policy of the phone, does not allow it
  | "none" // there is no camera, or not the one that was chosen
  | "busy" // another app has it, or it does not start
  | "insecure"; // the page is not served over TLS: browsers give no camera then

const CODES: Readonly<Record<string, CameraFaultCode>> = {
  NotAllowedError: "denied",
  SecurityError: "denied",
  NotFoundError: "none",
  OverconstrainedError: "none",
  NotReadableError: "busy",
  AbortError: "busy",
};

export class CameraFault extends Error {
  override readonly name = "CameraFault";

  constructor(readonly code: CameraFaultCode, cause?: unknown) {
    super(`No camera: ${code}`, { cause });
  }

  static of(cause: unknown): CameraFault {
    if (cause instanceof CameraFault) return cause;
    const name = cause instanceof Error || cause instanceof DOMException ? cause.name : "";
    return new CameraFault(CODES[name] ?? "busy", cause);
  }
}
