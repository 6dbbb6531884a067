import { assert, describe, it } from "@effect/vitest"
import { Table } from "../../../src/engine/workspace/Table.ts"

interface Row {
  readonly id: string
  readonly value: number
}

const newTable = () => new Table<string, Row>({ name: "row", idOf: ({ id }) => id, keyOf: (id) => id })
const row = (id: string, value: number): Row => ({ id, value })

describe("a recording of a table", () => {
  it("has the changes of its command alone, however many came before", () => {
    const table = newTable()
    const recorded = Array.from({ length: 200 }, (_, n) => {
      const changes = table.record()
      table.put(row(`${n}`, 1))
      return changes().length
    })
    assert.deepStrictEqual([...new Set(recorded)], [1])
    assert.strictEqual(table.changes().length, 200)
  })

  it("begins with what commands before it made of a row", () => {
    const table = newTable()
    const loaded = row("a", 0)
    table.load("a", loaded)
    const first = table.record()
    const opened = row("a", 1)
    table.put(row("a", 9))
    table.put(opened)
    assert.deepStrictEqual(first(), [{ before: loaded, after: opened }])

    const second = table.record()
    table.delete("a")
    assert.deepStrictEqual(second(), [{ before: opened, after: undefined }])
    assert.deepInclude(table.changes()[0], { before: loaded, after: undefined })
  })

  it("has nothing of a row that is as before in the end, nor of what comes after it", () => {
    const table = newTable()
    const loaded = row("a", 0)
    table.load("a", loaded)
    const changes = table.record()
    table.put(row("a", 1))
    table.put(loaded)
    assert.deepStrictEqual(changes(), [])
    table.put(row("b", 1))
    assert.deepStrictEqual(changes(), [])
  })

  it("ends where another begins: a decision may be made again from its start", () => {
    const table = newTable()
    const left = table.record()
    const changes = table.record()
    table.put(row("a", 1))
    assert.deepStrictEqual(left(), [])
    assert.strictEqual(changes().length, 1)
  })
})
