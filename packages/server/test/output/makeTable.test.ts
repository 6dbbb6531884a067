import { assert, describe, it } from "@effect/vitest"
import { type Column, makeTable } from "@tocsin/server/output/texts"

interface Row {
  readonly name: string
  readonly state: string
  readonly count: number
  readonly text: string
}

const COLUMNS: ReadonlyArray<Column<Row>> = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "STATE", cell: ({ state }) => state, isState: true },
  { title: "COUNT", cell: ({ count }) => String(count), align: "right" },
  { title: "TEXT", cell: ({ text }) => text, least: 6 },
]

const ROWS: ReadonlyArray<Row> = [
  { name: "web-1", state: "alive", count: 7, text: "all is well" },
  { name: "db", state: "dead", count: 1_200, text: "" },
]

const draw = (rows: ReadonlyArray<Row>, columns: number | undefined, hasColour = false): string => {
  const table = makeTable(COLUMNS, rows, { columns, hasColour })
  return table.header + table.lines(rows)
}

describe("a table", () => {
  it("has aligned columns, and no spaces at the ends of lines", () => {
    assert.strictEqual(
      draw(ROWS, undefined),
      ["NAME   STATE  COUNT  TEXT", "web-1  alive      7  all is well", "db     dead    1200", ""].join("\n"),
    )
  })

  it("is cut to the terminal where columns may be cut, and nowhere else", () => {
    assert.strictEqual(
      draw(ROWS, 28),
      ["NAME   STATE  COUNT  TEXT", "web-1  alive      7  all is…", "db     dead    1200", ""].join("\n"),
    )
    assert.match(draw(ROWS, 10), /\nweb-1 {2}alive {6}7 {2}all i…\n/)
  })

  it("counts what a terminal shows, not characters of a string", () => {
    const wide = { name: "監視", state: "ok", count: 1, text: "e\u0301te\u0301" }
    assert.strictEqual(
      draw([wide, { ...wide, name: "1234", text: "x" }], undefined),
      ["NAME  STATE  COUNT  TEXT", "監視  ok         1  e\u0301te\u0301", "1234  ok         1  x", ""].join(
        "\n",
      ),
    )
    assert.match(draw([{ ...wide, text: "監視監視監視" }], 25), /監視…\n/)
  })

  it("lets nothing act on the terminal", () => {
    const hostile = { name: "a\u001B[2Jb\nc\u009B31m", state: "ok", count: 1, text: "\u202Eabc\u0007" }
    // oxlint-disable-next-line no-control-regex
    assert.notMatch(draw([hostile], undefined).replaceAll("\n", ""), /[\u0000-\u001F\u007F-\u009F\u202E]/)
    assert.strictEqual(draw([hostile], undefined).split("\n").length, 3)
  })

  it("paints states where colours are welcome, without moving a column", () => {
    const painted = draw(ROWS, undefined, true)
    assert.include(painted, "\u001B[32malive\u001B[0m      7")
    assert.include(painted, "\u001B[31mdead\u001B[0m    1200")
    // oxlint-disable-next-line no-control-regex
    assert.strictEqual(painted.replaceAll(/\u001B\[\d+m/g, ""), draw(ROWS, undefined))
  })
})
