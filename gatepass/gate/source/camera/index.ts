export { Camera, type CameraOptions } from "./camera.js";
export { CameraFault, type CameraFaultCode } from "./fault.js";
export type { EngineName, Seen, View } from "./messages.js";
export type { CameraName } from "./stream.js";
