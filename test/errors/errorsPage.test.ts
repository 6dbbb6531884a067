import { assert, describe, it } from "@effect/vitest"
import { ErrorCode, errorStatus } from "@tocsin/contract/Errors"
import { StorageFailure } from "@tocsin/core/ports/Storage"
import { definitions } from "@tocsin/server/settings/Settings"
import { entries, rowsOf, sectionOf, titlesBetween } from "./ErrorsPage.ts"
import { messages, misplaced, NOT_ON_PAGE, PASSED_ON, wordings } from "./sourceMessages.ts"

/** Less than that explains nothing. */
const SHORTEST_EXPLANATION = 3

const paragraph = (code: string): string => code.replaceAll(/\s+/g, " ")

describe("docs/errors.md", () => {
  it("has a section for each code of the API, with its status", () => {
    assert.sameMembers([...titlesBetween("Answers of the API", "Settings")], [...ErrorCode.literals])
    for (const code of ErrorCode.literals) {
      assert.match(sectionOf(code).trim(), new RegExp(`^Status ${errorStatus[code]}[.,]`), code)
    }
  })

  it("lists the values of each setting, in one row for equal ones", () => {
    const values = new Map<string, Array<string>>()
    for (const [name, { takes }] of Object.entries(definitions)) {
      values.set(takes, [...(values.get(takes) ?? []), name])
    }
    assert.deepStrictEqual(
      rowsOf("Settings"),
      Array.from(values, ([takes, names]) => [names.join(", "), takes]),
    )
  })

  it("lists the reasons of storage failures", () => {
    assert.sameMembers(
      rowsOf("The storage").map(([reason = ""]) => reason),
      [...StorageFailure.literals],
    )
  })

  it("lists every message of the source", () => {
    const present = new Set(entries.map(({ wording }) => wording))
    const absent = messages.filter((message) =>
      message.wordings.some((wording) => wordings.has(wording) && !present.has(wording)),
    )
    assert.deepStrictEqual(
      absent.map((message) => `${message.file}:${message.line} ${message.wordings.join(" | ")}`),
      [],
      "add these to docs/errors.md, with what they mean and what to do",
    )
  })

  it("lists no other message", () => {
    assert.deepStrictEqual(
      entries.map(({ wording }) => wording).filter((wording) => !wordings.has(wording)),
      [],
      "remove these from docs/errors.md, or correct their words",
    )
  })

  it("lists each message once in a section, with what to do", () => {
    const names = entries.map(({ section, wording }) => `${section}: ${wording}`)
    assert.strictEqual(new Set(names).size, names.length)
    const unexplained = entries.filter(
      ({ explanation }) => explanation.split(" ").length < SHORTEST_EXPLANATION,
    )
    assert.deepStrictEqual(
      unexplained.map(({ wording }) => wording),
      [],
    )
  })
})

describe("messages of the source", () => {
  it("are found", () => {
    assert.isAbove(wordings.size, 150)
    assert.deepStrictEqual(misplaced, [])
  })

  it("can be read from it, or are passed on", () => {
    const unread = messages.filter(
      ({ isCertain, wordings: said, code }) =>
        isCertain && said.length === 0 && !code.startsWith("Schema.") && !PASSED_ON.has(paragraph(code)),
    )
    assert.deepStrictEqual(
      unread.map(({ file, line, code }) => `${file}:${line} ${paragraph(code)}`),
      [],
      "write the message where it is given, or name it in sourceMessages.ts",
    )
  })

  it("are excepted only while they exist", () => {
    const said = new Set(messages.flatMap((message) => message.wordings))
    assert.deepStrictEqual(
      Object.keys(NOT_ON_PAGE).filter((wording) => !said.has(wording)),
      [],
    )
    const codes = new Set(messages.map(({ code }) => paragraph(code)))
    assert.deepStrictEqual(
      Array.from(PASSED_ON).filter((code) => !codes.has(code)),
      [],
    )
  })
})
