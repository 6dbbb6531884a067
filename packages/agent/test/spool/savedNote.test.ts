import { assert, it } from "vitest"
import { savedGrowth } from "../../src/daemon/selfReport.ts"
import { bootId, savedMark, savedNote } from "../../src/spool/savedNote.ts"

const MARK = JSON.stringify({ server: Date.UTC(2026, 0, 1), sinceBoot: 1.5, boot: bootId() })
const GROWTH = JSON.stringify([["rejected", { count: 4, at: 1 }]])

/** The text with the last bit of each character turned, one at a time. */
const damagedForms = (text: string): ReadonlyArray<string> =>
  [...text].map(
    (one, at) => text.slice(0, at) + String.fromCharCode(one.charCodeAt(0) ^ 1) + text.slice(at + 1),
  )

it("reads the notes that an agent left", () => {
  assert.deepStrictEqual(savedMark(MARK, 1.5), JSON.parse(MARK))
  assert.deepStrictEqual([...savedGrowth(GROWTH)], JSON.parse(GROWTH))
  assert.deepStrictEqual(
    [savedNote(undefined), savedMark(undefined, 0), savedGrowth(undefined).size],
    [undefined, undefined, 0],
  )
})

it("takes no time of a former run of a container, whose boot is the host's and whose uptime begins again", () => {
  assert.isUndefined(savedMark(MARK, 1.4))
})

it("takes no note for one that is damaged", () => {
  for (const text of damagedForms(MARK)) {
    const { server = 0, sinceBoot = 0 } = savedMark(text, Infinity) ?? {}
    assert.deepStrictEqual([server, sinceBoot].filter(Number.isFinite), [server, sinceBoot], text)
  }
  for (const text of ["null", "5", "{}", "[5]", '[["rejected"]]', ...damagedForms(GROWTH)])
    for (const { count, at } of savedGrowth(text).values())
      assert.deepStrictEqual([count, at].filter(Number.isFinite), [count, at], text)
})
