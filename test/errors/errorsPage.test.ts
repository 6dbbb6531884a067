import { assert, describe, it } from "@effect/vitest"
import { errorStatus } from "@tocsin/contract/formats/Errors"
import { StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { entries, rowsOf, sectionOf, titlesBetween } from "./ErrorsPage.ts"
import { messages, misplaced, NOT_ON_PAGE, PASSED_ON, wordings } from "./sourceMessages.ts"
import { IMPERATIVES, imperativesOf, statesRemedy } from "./statesRemedy.ts"

/** Less than that explains nothing. */
const SHORTEST_EXPLANATION = 3

const paragraph = (code: string): string => code.replaceAll(/\s+/g, " ")

describe("docs/errors.md", () => {
  it("has a section for each code of the API, with its status", () => {
    assert.sameMembers([...titlesBetween("Answers of the API", "Settings")], Object.keys(errorStatus))
    for (const [code, status] of Object.entries(errorStatus)) {
      assert.match(sectionOf(code).trim(), new RegExp(`^Status ${status}[.,]`), code)
    }
  })

  it("lists the reasons of storage failures", () => {
    assert.sameMembers(
      rowsOf("The storage").map(([reason = ""]) => reason),
      [...StorageFailure.literals],
    )
  })

  it("lists every message of the source that does not say itself what to do", () => {
    const present = new Set(entries.map(({ wording }) => wording))
    const isAbsent = (wording: string) =>
      wordings.has(wording) && !present.has(wording) && !statesRemedy(wording)
    assert.deepStrictEqual(
      messages
        .filter((message) => message.wordings.some(isAbsent))
        .map((message) => `${message.file}:${message.line} ${message.wordings.filter(isAbsent).join(" | ")}`),
      [],
      "say in these what to do, or add them to docs/errors.md with what they mean and what to do",
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

describe("a message that says what to do", () => {
  it.each([
    "name at least one agent, or use --all",
    "this agent key is blocked; to let it register again, delete its blacklist row",
    "this command backs up SQLite only: for PostgreSQL, use pg_dump",
    "… must be a number",
    "SERVICE_DEAD_AFTER must be longer than SERVICE_STALE_AFTER",
  ])("is: %s", (wording) => {
    assert.isTrue(statesRemedy(wording))
  })

  it.each([
    "nothing was changed",
    "the incident has resolved, so it cannot be acknowledged",
    "… names a folder, but must name a file",
    "the storage refuses writes (…)",
  ])("is not: %s", (wording) => {
    assert.isFalse(statesRemedy(wording))
  })

  it("begins its remedy with each of the imperatives", () => {
    const said = new Set(Array.from(wordings).flatMap(imperativesOf))
    assert.deepStrictEqual(
      IMPERATIVES.filter((word) => !said.has(word)),
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
