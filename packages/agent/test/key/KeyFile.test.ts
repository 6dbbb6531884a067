import {
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { KeyFile } from "../../src/key/KeyFile.ts"

const KEY = "ab".repeat(32)
const OTHER = 40_002
const isRoot = process.geteuid?.() === 0
const unless = isRoot ? "" : " (skipped: only root can make one)"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tocsin-key-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe("a key file", () => {
  it.skipIf(!isRoot)(`of another user is refused, because that user knows the key${unless}`, () => {
    for (const name of ["key", "key.next"]) {
      writeFileSync(join(folder, name), KEY)
      chownSync(join(folder, name), OTHER, OTHER)
    }
    const keys = new KeyFile(folder)
    assert.throws(() => keys.current(), /key belongs to another user/)
    assert.throws(() => keys.next(), /key\.next belongs to another user/)
    chownSync(folder, OTHER, OTHER)
    assert.deepStrictEqual([keys.current(), keys.next()], [KEY, KEY])
  })

  it.skipIf(!isRoot)(`that another user linked is refused${unless}`, () => {
    const keys = new KeyFile(folder)
    keys.current()
    symlinkSync("key", join(folder, "key.next"))
    lchownSync(join(folder, "key.next"), OTHER, OTHER)
    assert.throws(() => keys.next(), /key\.next belongs to another user/)
  })

  it("of a replacement is in use once it is accepted, also while it cannot be renamed", () => {
    const keys = new KeyFile(folder)
    const next = keys.rotate()
    rmSync(join(folder, "key"))
    mkdirSync(join(folder, "key"))
    for (const _ of ["once", "again"]) {
      assert.throws(() => keys.promote(), /^the key files cannot be changed \(.*\): let the agent write to /)
      assert.deepStrictEqual([keys.current(), keys.next()], [next, next])
    }
    rmdirSync(join(folder, "key"))
    keys.promote()
    for (const read of [keys, new KeyFile(folder)])
      assert.deepStrictEqual([read.current(), read.next()], [next, undefined])
  })

  it("of a replacement is discarded, unless another has taken its place", () => {
    const keys = new KeyFile(folder)
    const next = keys.rotate()
    keys.discard(KEY)
    assert.strictEqual(keys.next(), next)
    keys.discard(next)
    assert.isUndefined(keys.next())
    assert.notStrictEqual(keys.rotate(), next)
  })
})
