// Builds dist/: declarations by tsc, modules by esbuild. Shared code is in chunks, so that an error that one entry
// point throws is of the class that another one exports.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { build } from "esbuild";
import { entries } from "./entries.mjs";

process.chdir(new URL("..", import.meta.url).pathname);
rmSync("dist", { recursive: true, force: true });
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], { stdio: "inherit" });
await build({
  entryPoints: entries,
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  platform: "neutral",
  external: ["node:*"],
  chunkNames: "chunks/[name]-[hash]",
  legalComments: "none",
});
