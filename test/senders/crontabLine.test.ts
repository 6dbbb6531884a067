import { assert, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"

const page = readFileSync(fileURLToPath(new URL("../../docs/integrations.md", import.meta.url)), "utf8")
const line = /^U=http.*$/m.exec(page)?.[0] ?? ""

// Linux refuses an argument of 128 KiB, so an output in one would lose the failure with it.
it("the line of a crontab reports a failure whose output is longer than an argument may be", () => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-crontab-"))
  const programs = {
    job: `head -c 200000 /dev/zero | tr '\\0' x; echo the reason; exit 3`,
    curl: `for last; do :; done; case $last in */start) ;; *) echo "$last" > ${folder}/address; cat > ${folder}/body ;; esac`,
  }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  // A crontab takes the backslash before a percent sign away.
  const run = line.replace("df /", "job").replaceAll(String.raw`\%`, "%")
  const env = { PATH: `${folder}:${process.env["PATH"] ?? ""}`, URL: "/in/ping/KEY" }
  const { stderr } = spawnSync("sh", ["-c", run], { encoding: "utf8", env })
  const [address, body] = ["address", "body"].map((name) => readFileSync(join(folder, name), "utf8"))
  rmSync(folder, { recursive: true })
  assert.strictEqual(stderr, "")
  assert.strictEqual(address, "http://127.0.0.1:8080/in/ping/KEY/disk/3?every=1d&after=26h\n")
  assert.strictEqual(body?.length, 9_999)
  assert.isTrue(body?.endsWith("xxxthe reason"))
})
