/** The cases that every implementation answers alike, `sdk/cases`. */

import { readFileSync } from "node:fs";

const FOLDER = new URL("../../../../sdk/cases/", import.meta.url);

export function cases<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf-8")) as T;
}
