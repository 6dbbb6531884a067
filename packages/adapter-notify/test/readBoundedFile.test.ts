import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readBoundedFile } from "../src/readBoundedFile.ts"
import { afterAll, assert, it } from "@effect/vitest"

const folder = mkdtempSync(join(tmpdir(), "tocsin-"))
afterAll(() => rmSync(folder, { recursive: true }))

it("a file is read up to the bound", () => {
  const path = join(folder, "file")
  writeFileSync(path, "Köln")
  assert.strictEqual(readBoundedFile(path, 5), "Köln")
  assert.isUndefined(readBoundedFile(path, 4))
  assert.throws(() => readBoundedFile(folder, 5), /EISDIR/)
  assert.throws(() => readBoundedFile(join(folder, "nothing"), 5), /ENOENT/)
})

it("a device without an end is larger than the bound", () => {
  assert.isUndefined(readBoundedFile("/dev/zero", 65_536))
})

it("a pipe without a writer is empty, and one that is written slowly is read whole", async () => {
  const path = join(folder, "pipe")
  execFileSync("sh", ["-c", `mkfifo "$0"`, path])
  assert.strictEqual(readBoundedFile(path, 5), "")
  // A pipe that its writer closes before it is opened here would be empty.
  const writer = spawn("sh", [
    "-c",
    `exec 3<>"$0"; echo ready; sleep 0.1; printf ab >&3; sleep 1; exec 3>&-`,
    path,
  ])
  await new Promise((resolve) => writer.stdout.once("data", resolve))
  assert.strictEqual(readBoundedFile(path, 5), "ab")
})
