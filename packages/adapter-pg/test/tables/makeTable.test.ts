import { assert, it } from "@effect/vitest"
import { integer, orUndefined, storedTable, text } from "@tocsin/core/kernel/model/TableShape"
import { columnArrays, makeTable } from "../../src/tables/makeTable.ts"

const shape = storedTable({
  name: "thing",
  key: ["id"],
  columns: { id: text(), state: text(), attempts: integer, error: orUndefined(text()) },
})
const table = makeTable(shape, { alias: "t", insertOrder: ["id"] })

const waiting = { id: "a", state: "waiting", attempts: 0, error: undefined }
const failed = { ...waiting, state: "failed", error: "refused" }

it("an update names the columns in which some row differs, and the key", () => {
  const sent = { before: { ...waiting, id: "b" }, after: { ...waiting, id: "b", state: "sent" } }
  const one = table.updateOf([sent])
  assert.deepStrictEqual(Object.keys(one.columns), ["id", "state"])
  assert.include(one.text, "SET state = given.state FROM unnest($1::text[], $2::text[])")
  assert.strictEqual(table.updateOf([sent, sent]), one)
  const both = table.updateOf([sent, { before: waiting, after: failed }])
  assert.deepStrictEqual(Object.keys(both.columns), ["id", "state", "error"])
  assert.deepStrictEqual(columnArrays(both.columns, [sent.after, failed]), [
    '{"b","a"}',
    '{"sent","failed"}',
    '{NULL,"refused"}',
  ])
})

it("an update of a row that differs in nothing still writes it, so that its version is that of the transaction", () => {
  const { columns } = table.updateOf([{ before: waiting, after: { ...waiting } }])
  assert.deepStrictEqual(Object.keys(columns), ["id", "state"])
})

it("an insert names the columns that some row has", () => {
  assert.deepStrictEqual(Object.keys(table.insertOf([waiting]).columns), ["id", "state", "attempts"])
  const { columns, text: statement } = table.insertOf([waiting, failed])
  assert.deepStrictEqual(Object.keys(columns), ["id", "state", "attempts", "error"])
  assert.include(statement, "INSERT INTO thing (id, state, attempts, error) SELECT")
})
