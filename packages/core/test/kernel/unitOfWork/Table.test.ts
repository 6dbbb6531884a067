import { assert, describe, it } from "@effect/vitest"
import { Table } from "../../../src/kernel/unitOfWork/Table.ts"

interface Row {
  readonly id: string
  readonly value: number
}

const newTable = () =>
  new Table<string, Row>({ name: "row", idOf: ({ id }) => id, keyOf: (id) => id }, { writes: 0, topics: 0 })
const row = (id: string, value: number): Row => ({ id, value })

describe("a recording of a table", () => {
  it("has the changes of its command alone, however many came before", () => {
    const table = newTable()
    const recorded = Array.from({ length: 200 }, (_, n) => {
      table.beginRecording()
      table.put(row(`${n}`, 1))
      return table.recorded().length
    })
    assert.deepStrictEqual([...new Set(recorded)], [1])
    assert.strictEqual(table.changes().length, 200)
  })

  it("begins with the row as previous commands left it", () => {
    const table = newTable()
    const loaded = row("a", 0)
    table.load("a", loaded)
    table.beginRecording()
    const opened = row("a", 1)
    table.put(row("a", 9))
    table.put(opened)
    assert.deepStrictEqual(table.recorded(), [{ before: loaded, after: opened }])

    table.beginRecording()
    table.delete("a")
    assert.deepStrictEqual(table.recorded(), [{ before: opened, after: undefined }])
    assert.deepInclude(table.changes()[0], { before: loaded, after: undefined })
  })

  it("has nothing of a row that is as before in the end", () => {
    const table = newTable()
    const loaded = row("a", 0)
    table.load("a", loaded)
    table.beginRecording()
    table.put(row("a", 1))
    table.put(loaded)
    assert.deepStrictEqual(table.recorded(), [])
  })

  it("starts over where another begins: a decision may be made again from its start", () => {
    const table = newTable()
    table.beginRecording()
    table.put(row("a", 1))
    table.beginRecording()
    assert.deepStrictEqual(table.recorded(), [])
    table.put(row("b", 1))
    assert.strictEqual(table.recorded().length, 1)
  })
})
