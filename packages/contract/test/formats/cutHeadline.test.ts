import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { cutHeadline } from "../../src/formats/cutHeadline.ts"

/**
 * Headlines of 160 plugin programs of Debian 12 (November 2026), with the status that each reported: first, between two
 * bars, the beginning that a message leaves out, where it leaves out any.
 */
const LINES = readFileSync(new URL("pluginHeadlines.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")

const given = LINES.map((line) => {
  const [, status = "", beginning, rest = ""] =
    /^(\w+)\|(?:([A-Z0-9_.[\] -]+[:-] +)\|)?(.*)$/u.exec(line) ?? []
  // The statuses of the file.
  return { status: status as CheckStatus, beginning: beginning ?? "", rest }
})

describe("the headline of a message", () => {
  it("loses the status that the message begins with, and nothing else of what plugins say", () => {
    assert.isAbove(given.filter(({ beginning }) => beginning !== "").length, 150)
    for (const { beginning, rest, status } of given)
      assert.strictEqual(cutHeadline(`${beginning}${rest}`, status), rest)
  })

  it("keeps the word of another status, a second one, and itself where nothing would be left", () => {
    assert.strictEqual(cutHeadline("DISK CRITICAL - full", "warning"), "DISK CRITICAL - full")
    assert.strictEqual(cutHeadline("CRITICAL: CRITICAL: full", "critical"), "CRITICAL: full")
    assert.strictEqual(cutHeadline("CRITICAL - ", "critical"), "CRITICAL - ")
    assert.strictEqual(cutHeadline("[WARNING] disk – 3 %", "warning"), "disk – 3 %")
    assert.strictEqual(cutHeadline("HTTP OK — fine", "ok"), "fine")
  })

  it("loses at most three words before the status, each with one space, and a separator with one behind it", () => {
    const leaving = (line: string) => cutHeadline(line, "critical")
    for (const words of ["", "A ", "A B ", "A B C ", "HTTP_2 WEB-1.X 443 "])
      for (const separator of [": ", " : ", " - ", "- ", " \u2013 ", "\u2014   "])
        assert.strictEqual(leaving(`${words}CRITICAL${separator}full`), "full", words + separator)
    for (const line of [
      "A B C D CRITICAL - full",
      "A  B CRITICAL - full",
      " CRITICAL - full",
      "it is CRITICAL: full",
      "Ä CRITICAL: full",
      "ACRITICAL: full",
      "CRITICAL full",
      "CRITICAL  - full",
      "CRITICAL -full",
      "CRITICAL:full",
      "CRITICAL, full",
      "critical: full",
      "[CRITICAL]full",
      "[CRITICAL]: full",
      "A [CRITICAL] full",
    ])
      assert.strictEqual(leaving(line), line)
    assert.strictEqual(leaving("[CRITICAL] [CRITICAL] full"), "[CRITICAL] full")
    assert.strictEqual(leaving("[CRITICAL]  "), "[CRITICAL]  ")
  })
})
