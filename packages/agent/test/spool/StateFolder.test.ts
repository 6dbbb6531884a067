import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "vitest"
import { makeStateFolder } from "../../src/spool/StateFolder.ts"

it("makes a folder with those above it, or says why not, also where the system makes none", () => {
  const root = mkdtempSync(join(tmpdir(), "tocsin-state-"))
  const state = join(root, "above", "state")
  makeStateFolder(state)
  makeStateFolder(state)
  assert.strictEqual(statSync(state).mode & 0o777, 0o700)
  writeFileSync(join(root, "file"), "")
  assert.throws(() => makeStateFolder(join(root, "file")), /EEXIST/)
  assert.throws(() => makeStateFolder(join(root, "file", "below")), /ENOTDIR/)
  rmSync(root, { recursive: true })
  assert.throws(() => makeStateFolder("/proc/none/state"), process.platform === "linux" ? /ENOENT/ : /E/)
})
