import { assert, it } from "@effect/vitest"
import { integer, text } from "@tocsin/core/kernel/model/TableShape"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { makeTable } from "../../src/tables/makeTable.ts"

const COLUMNS = 70

const names = Array.from({ length: COLUMNS }, (_, n) => `c${n}`)

type Row = Readonly<Record<string, number | string>>

it("an update writes exactly the columns that changed, of however many", () => {
  const connection = SqliteConnection.open(IN_MEMORY)
  connection.query(`CREATE TABLE wide (id TEXT PRIMARY KEY, ${names.join(", ")})`).get()
  const columns = Object.fromEntries([["id", text()], ...names.map((name) => [name, integer])])
  const table = makeTable<Row>(connection, { name: "wide", key: ["id"], columns })
  const find = table.one("")
  let before: Row = Object.fromEntries([["id", "x"], ...names.map((name) => [name, 0])])
  table.insert([before])
  const change = (...changed: ReadonlyArray<number>) => {
    const after = { ...before }
    for (const at of changed) after[`c${at}`] = Number(before[`c${at}`]) + at + 1
    table.write({ before, after })
    assert.deepStrictEqual({ ...find() }, after, changed.join())
    before = after
  }
  for (const at of names.keys()) change(at)
  for (const at of names.keys()) change(at, (at + 32) % COLUMNS)
  change(...names.keys())
})
