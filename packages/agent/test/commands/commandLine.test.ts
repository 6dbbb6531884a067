import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { reasonOf } from "../../src/commands/commandLine.ts"

const refusalOf = (act: () => void): string => {
  try {
    act()
  } catch (error) {
    return reasonOf(error)
  }
  return "nothing was refused"
}

describe("the reason why a command of the agent failed", () => {
  it.each(["EACCES", "EPERM", "EROFS"])("says who can write to the state folder: %s", (code) => {
    const refused = Object.assign(new Error(`${code}: refused, open 'agent.lock'`), { code })
    assert.include(reasonOf(refused), "agent.lock': run it as root or as the owner of the state folder")
    assert.include(reasonOf(refused), "read-only")
  })

  it("says the same of a spool that cannot be written", () => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-output-"))
    const file = join(folder, "spool.db")
    new DatabaseSync(file).close()
    const spool = new DatabaseSync(file, { readOnly: true })
    for (const act of [
      () => spool.exec("CREATE TABLE result (id)"),
      // As in a folder on a read-only disk.
      () => new DatabaseSync(join(folder, "none", "spool.db")),
    ])
      assert.match(refusalOf(act), /^the spool cannot be written \(.*\): run it as root or as the owner of/)
    spool.close()
    rmSync(folder, { recursive: true })
  })

  it("adds nothing to other reasons", () => {
    assert.strictEqual(reasonOf(new Error("the spool is damaged")), "the spool is damaged")
    assert.strictEqual(reasonOf("no error"), "no error")
  })
})
