import { assert, describe, it } from "@effect/vitest"
import { csvColumns, csvLines } from "@tocsin/contract/formats/csvText"
import * as Instant from "@tocsin/contract/formats/Instant"
import { itemsOf, writeList } from "@tocsin/server/output/writeList"
import { Effect, Stream } from "effect"
import { start } from "@tocsin/testing/samples"
import { fakeTerminal } from "./FakeOutput.ts"

interface Row {
  readonly n: number
}

const COLUMNS = [{ title: "N", cell: ({ n }: Row) => String(n) }]

/**
 * A list of so many rows, read in pages of at most 500 as those of the service; records the
 * requested limits.
 */
const listOf = (length: number) => {
  const limits: Array<number> = []
  return {
    limits,
    page: ({ cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number }) =>
      Effect.sync(() => {
        limits.push(limit)
        const from = Number(cursor ?? 0)
        const items = Array.from({ length: Math.min(limit, length - from) }, (_, index): Row => ({
          n: from + index,
        }))
        const next = from + items.length
        return { items, next_cursor: next < length ? String(next) : null, prev_cursor: null }
      }),
  }
}

interface Wanted {
  readonly limit?: number
  readonly all?: boolean
  readonly keep?: (row: Row) => boolean
}

const shown = Effect.fnUntraced(function* (
  length: number,
  { limit = 100, all = false, keep = () => true }: Wanted,
) {
  const terminal = fakeTerminal()
  const { page, limits } = listOf(length)
  yield* Effect.provide(
    writeList(
      { items: Stream.filter(itemsOf(page), keep), columns: COLUMNS, of: "rows", csv: csvColumns.operators },
      { limit, all, csv: false, json: true },
    ),
    terminal.layer,
  )
  const { items, has_more } = JSON.parse(terminal.stdout) as { items: ReadonlyArray<Row>; has_more: boolean }
  return { numbers: items.map(({ n }) => n), has_more, limits }
})

describe("a list", () => {
  it.effect.each<readonly [length: number, wanted: Wanted, count: number, hasMore: boolean]>([
    [0, {}, 0, false],
    [3, {}, 3, false],
    [100, {}, 100, false],
    [101, {}, 100, true],
    [1_200, { limit: 700 }, 700, true],
    [1_200, { limit: 1_200 }, 1_200, false],
    [1_200, { all: true, limit: 1 }, 1_200, false],
  ])("of %i rows, asked for %o", ([length, wanted, count, hasMore]) =>
    Effect.gen(function* () {
      const { numbers, has_more, limits } = yield* shown(length, wanted)
      assert.deepStrictEqual(
        numbers,
        Array.from({ length: count }, (_, index) => index),
      )
      assert.strictEqual(has_more, hasMore)
      assert.isTrue(limits.every((limit) => limit >= 1 && limit <= 500))
    }),
  )

  it.effect("is filtered while it is read, and has more only if another row passes", () =>
    Effect.gen(function* () {
      const keep = ({ n }: Row) => n % 400 === 0
      assert.deepInclude(yield* shown(1_200, { limit: 3, keep }), { numbers: [0, 400, 800], has_more: false })
      assert.deepInclude(yield* shown(1_201, { limit: 3, keep }), { numbers: [0, 400, 800], has_more: true })
      assert.deepInclude(yield* shown(1_201, { limit: 2, keep }), { numbers: [0, 400], has_more: true })
    }),
  )

  it.effect("is a table otherwise, with notes on standard error", () =>
    Effect.gen(function* () {
      const terminal = fakeTerminal()
      const write = (length: number) =>
        Effect.provide(
          writeList(
            { items: itemsOf(listOf(length).page), columns: COLUMNS, of: "rows", csv: csvColumns.operators },
            { limit: 2, all: false, csv: false, json: false },
          ),
          terminal.layer,
        )
      yield* write(3)
      assert.deepStrictEqual(
        [terminal.stdout, terminal.stderr],
        ["N\n0\n1\n", "2 rows shown; for more, use --all or --limit\n"],
      )
      yield* write(0)
      assert.match(terminal.stderr, /\nno rows\n$/)
    }),
  )

  it.effect("is CSV on request: all rows unless a limit is given, and the first line also of none", () =>
    Effect.gen(function* () {
      const { head } = csvLines(csvColumns.operators)
      const written = Effect.fnUntraced(function* (length: number, limit?: number) {
        const terminal = fakeTerminal()
        const items = Stream.map(itemsOf(listOf(length).page), ({ n }) => ({
          name: `=${n}`,
          created_at: start,
        }))
        yield* Effect.provide(
          writeList(
            { items, columns: [], of: "rows", csv: csvColumns.operators },
            { limit, all: false, csv: true, json: false },
          ),
          terminal.layer,
        )
        return [terminal.stdout, terminal.stderr]
      })
      const rows = Array.from({ length: 1_200 }, (_, n) => `'=${n},,${Instant.format(start)},,,\r\n`)
      assert.deepStrictEqual(yield* written(1_200), [head + rows.join(""), ""])
      assert.deepStrictEqual(yield* written(0), [head, ""])
      const [text, note] = yield* written(3, 2)
      assert.strictEqual(text, head + rows.slice(0, 2).join(""))
      assert.include(note, "2 rows shown")
    }),
  )
})
