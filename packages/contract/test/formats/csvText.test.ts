import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { csvColumns, csvLines } from "../../src/formats/csvText.ts"
import { TitledAgent } from "../../src/api/opsResources.ts"
import { ExpectedCheckStatePage } from "../../src/checks/ShownChecks.ts"
import { HeldIncident, HeldOutboxItem } from "../../src/incidents/HeldRows.ts"
import { Announcement, announcementColumns } from "../../src/publicPages/Announcements.ts"
import { AuditEntry } from "../../src/audit/Audit.ts"
import { CheckAvailability } from "../../src/availability/Availability.ts"
import { Enrolment, enrolmentColumns } from "../../src/enrolment/Enrolments.ts"
import { Integration, integrationColumns } from "../../src/integrations/Integrations.ts"
import { Operator } from "../../src/operators/Operators.ts"
import { silenceColumns } from "../../src/silences/silenceColumns.ts"
import { Silence } from "../../src/silences/Silences.ts"
import { Session, sessionColumns } from "../../src/signIn/Sessions.ts"
import { Watch, watchColumns } from "../../src/watches/Watches.ts"

/** Reads CSV as RFC 4180 has it. */
const read = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  const row: Array<string> = []
  for (let rest = text; rest !== "";) {
    const [all = "", quoted, plain = "", end] = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest) ?? []
    assert.notStrictEqual(all, "", `no cell begins here: ${rest.slice(0, 40)}`)
    row.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === "\r\n") rows.push(row.splice(0))
    rest = rest.slice(all.length)
  }
  assert.deepStrictEqual(row, [])
  return rows
}

const FORMULA = /^\s*[=+\-@＋－＝＠]/u

const value = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(null, undefined, true, -3.5, "a,b", '"', "x\r\ny", "é;\t", " =1+1", "\n@x", "－2"),
)

describe("CSV", () => {
  it("has each text as it was, but for an apostrophe before a formula", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ name: value, role: value })), (items) => {
        const { head, rows } = csvLines(csvColumns.operators)
        const columns = csvColumns.operators.split(" ")
        const [names, ...found] = read(head + rows(items))
        assert.deepStrictEqual(names, columns)
        assert.strictEqual(found.length, items.length)
        for (const [place, { name, role }] of items.entries())
          for (const [column, given] of [name, role].entries()) {
            const cell = found[place]?.[column] ?? ""
            const isFormula = typeof given === "string" && FORMULA.test(given)
            assert.strictEqual(cell, `${isFormula ? "'" : ""}${String(given ?? "")}`)
          }
      }),
    )
  })

  it("leaves numbers, and writes what is nested as JSON", () => {
    const { rows } = csvLines(csvColumns.audit)
    assert.deepStrictEqual(read(rows([{ id: -1, subjects: [{ kind: "agent", id: "a" }], parameters: {} }])), [
      ["-1", "", "", "", "", '[{"kind":"agent","id":"a"}]', "{}", ""],
    ])
    const incident = { id: "1", acknowledgement: { by: "=ann" } }
    assert.include(csvLines(csvColumns.incidents).rows([incident]), "'=ann")
  })

  it("has every field of the API's items", () => {
    const items: ReadonlyArray<readonly [columns: string, item: { readonly fields: object }]> = [
      [csvColumns.agents, TitledAgent],
      [announcementColumns, Announcement],
      [csvColumns.audit, AuditEntry],
      [csvColumns.availability, CheckAvailability],
      [csvColumns.checks, ExpectedCheckStatePage.fields.items.value],
      [enrolmentColumns, Enrolment],
      [csvColumns.incidents, HeldIncident],
      [integrationColumns, Integration],
      [csvColumns.operators, Operator],
      [csvColumns.outbox, HeldOutboxItem],
      [sessionColumns, Session],
      [silenceColumns, Silence],
      [watchColumns, Watch],
    ]
    // The command line has no phases, and lists have neither places nor the one here.
    const left = new Set(["here", "phases", "places"])
    for (const [named, { fields }] of items) {
      const columns = named.split(" ").map((column) => column.split(".")[0])
      const own = Object.keys(fields).filter((field) => !left.has(field))
      assert.deepStrictEqual(Array.from(new Set(columns)).toSorted(), own.toSorted())
    }
  })
})
