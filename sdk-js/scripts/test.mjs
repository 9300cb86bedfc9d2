// Runs the unit tests: each file of test/ is bundled first, because Node 20 does not run TypeScript.
// Arguments choose files, by a part of their path.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

process.chdir(new URL("..", import.meta.url).pathname);
const chosen = process.argv.slice(2);
const files = readdirSync("test", { recursive: true })
  .filter((file) => file.endsWith(".test.ts"))
  .filter((file) => chosen.length === 0 || chosen.some((part) => `test/${file}`.includes(part)));
if (files.length === 0) throw new Error("No test has such a name.");
rmSync("build/test", { recursive: true, force: true });
await build({
  entryPoints: files.map((file) => `test/${file}`),
  outbase: "test",
  outdir: "build/test",
  bundle: true,
  packages: "external",
  format: "esm",
  target: "es2022",
  platform: "node",
  sourcemap: "inline",
});
const built = files.map((file) => `build/test/${file.replace(/\.ts$/, ".js")}`);
const ran = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=spec", ...built], {
  stdio: "inherit",
});
process.exit(ran.status ?? 1);
