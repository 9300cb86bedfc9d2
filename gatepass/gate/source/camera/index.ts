export { Camera, type CameraOptions } from "./camera.js";
export { CameraFault, type CameraFaultCode } from "./fault.js";
export type { EngineName, Seen } from "./messages.js";
export type { CameraName } from "./stream.js";
export type { View } from "./views.js";
