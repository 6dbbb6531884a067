import { readFileSync } from "node:fs"
import { auditActionNames, AuditActions, auditSubjectKind } from "@tocsin/contract/audit/AuditActions"
import { assert, describe, it } from "vitest"

const page = readFileSync(new URL("../../docs/operators.md", import.meta.url), "utf8")

/** The cells of the rows of the table with this head. */
const tableOf = (head: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, rest = ""] = page.split(`${head}\n`)
  const lines = rest.split("\n")
  return lines.slice(1, lines.indexOf("")).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

describe("docs/operators.md", () => {
  it("lists every action of the audit as the code has it", () => {
    const actions = auditActionNames.map((name) => {
      const [change, ...parameters] = AuditActions[name]
      return [
        `\`${name}\``,
        auditSubjectKind(name),
        change,
        parameters.map((parameter) => `\`${parameter}\``).join(", "),
      ]
    })
    assert.deepStrictEqual(tableOf("| action | subject | what happened to it | parameters |"), actions)
  })
})
