/** Gatepass for JavaScript. */

export * from "./errors.js";
export { VERSION } from "./version.js";
