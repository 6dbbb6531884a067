import { createHash } from "node:crypto"
import { NEVER_MARKED } from "@tocsin/core/kernel/model/ServiceHeartbeatRecord"
import { copiedTables, numberTables } from "@tocsin/core/lists/StoredTables"
import type { AnyShape, CopiedRow } from "@tocsin/core/kernel/model/TableShape"
import type { CopySource, CopyTarget, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, identity, Schema, Stream } from "effect"
import type { CopyEnd } from "./places.ts"

/** A copied table; both sides have the same values. */
export interface CopiedTable {
  readonly table: string
  readonly rows: number
  /** SHA-256 over all rows in the order of their key, in a form that all storages share. */
  readonly sha256: string
}

/** The target does not contain what was written: a defect, a store that loses writes, or a broken disk. */
export class CopyDiffers extends Schema.TaggedError<CopyDiffers>()("CopyDiffers", {
  message: Schema.String,
}) {}

/** Called after each piece with the rows that are done, of all. */
type Report = (step: { readonly done: number; readonly total: number; readonly of: string }) => void

interface Sides {
  readonly source: CopySource
  readonly target: CopyTarget
}

/** Rows in a form that all storages share. Values of one column have one type, so 1 never equals "1". */
const textOf = (rows: ReadonlyArray<CopiedRow>): string =>
  rows
    .map((row) => `${JSON.stringify(row, (_, value) => (typeof value === "bigint" ? `${value}` : value))}\n`)
    .join("")

const digestOf = Effect.fnUntraced(function* (
  table: AnyShape,
  rows: CopySource["rows"],
  onRows: (rows: ReadonlyArray<CopiedRow>) => Effect.Effect<void, StorageError>,
) {
  const hash = createHash("sha256")
  let count = 0
  yield* Stream.runForEach(rows(table), (piece) =>
    Effect.suspend(() => {
      count += piece.length
      hash.update(textOf(piece))
      return Effect.andThen(onRows(piece), Effect.yieldNow)
    }),
  )
  return { table: table.name, rows: count, sha256: hash.digest("hex") } satisfies CopiedTable
})

/** The service heartbeat is not copied: no server has run on the copy. */
const withoutSignOfLife = ({ name, columns }: AnyShape, rows: ReadonlyArray<CopiedRow>) => {
  if (name !== "service_heartbeat") return rows
  const at = Object.keys(columns).indexOf("beat_at")
  return rows.map((row) => row.with(at, NEVER_MARKED))
}

export const copyTables = Effect.fnUntraced(function* (
  tables: ReadonlyArray<AnyShape>,
  { source, target }: Sides,
  { advice = "check the target's disk, and report this" }: Pick<CopyEnd, "advice">,
  report: Report,
) {
  const counts = yield* Effect.forEach(tables, source.count)
  // Every row is written once, and read back once.
  const total = 2 * counts.reduce((sum, count) => sum + count, 0)
  let done = 0
  const pass = (rows: ReadonlyArray<CopiedRow>, of: string) =>
    Effect.sync(() => {
      done += rows.length
      report({ done, total, of })
    })
  const written: Array<CopiedTable> = []
  for (const table of tables) {
    const write = (rows: ReadonlyArray<CopiedRow>) =>
      Effect.andThen(target.write(table, rows), pass(rows, `rows, copying ${table.name}`))
    const asKept = target.asKept?.(table) ?? identity<CopiedRow>
    const rows: CopySource["rows"] = (of) =>
      Stream.map(source.rows(of), (piece) => withoutSignOfLife(of, piece).map((row) => asKept(row)))
    written.push(yield* digestOf(table, rows, write))
  }
  yield* target.setLastSeq(yield* source.lastSeq)
  for (const [index, table] of tables.entries()) {
    const found = yield* digestOf(table, target.rows, (rows) => pass(rows, `rows, verifying ${table.name}`))
    const expected = written[index]
    if (found.rows === expected?.rows && found.sha256 === expected.sha256) continue
    return yield* new CopyDiffers({
      message: `table ${table.name} differs from its source after the copy (${found.rows} of ${expected?.rows} rows): the copy was discarded; ${advice}`,
    })
  }
  return written
})

/** The parts that a copy leaves out, and a listener to its progress. */
export interface CopyOptions {
  readonly without?: "numbers" | undefined
  readonly report?: Report | undefined
}

/**
 * Copies one snapshot of a storage into an empty one and verifies it. The target keeps all of it or
 * nothing, so an interrupted run can be repeated.
 */
export const copyBetween = (from: CopyEnd, to: CopyEnd, { report = () => {}, without }: CopyOptions) => {
  const tables =
    without === undefined ? copiedTables : copiedTables.filter((table) => !numberTables.includes(table))
  return to.withTarget((target) =>
    from.withSource((source) => copyTables(tables, { source, target }, to, report)),
  )
}
