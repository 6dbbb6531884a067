import { createHash } from "node:crypto"
import type { CopiedRow, AnyShape } from "@tocsin/core/model/TableShape"
import type { CopySource, CopyTarget } from "@tocsin/core/ports/Copy"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { NEVER_MARKED } from "@tocsin/core/model/ServiceHeartbeatRecord"
import { Effect, Schema, Stream } from "effect"
import type { Step } from "../output/withProgress.ts"
import { copiedTables } from "@tocsin/core/model/StoredTables"
import type { StoragePlace } from "./StoragePlace.ts"

/** A copied table; both sides have the same values. */
export interface CopiedTableReport {
  readonly table: string
  readonly rows: number
  /** SHA-256 over all rows in the order of their key, in a form that all storages share. */
  readonly sha256: string
}

/** The target does not contain what was written: a defect, or a broken disk. */
class CopyDiffers extends Schema.TaggedError<CopyDiffers>()("CopyDiffers", {
  message: Schema.String,
}) {}

type Report = (step: Step) => void

/** The checksum of a table. */
class Digest {
  readonly #hash = createHash("sha256")
  rows = 0

  add(rows: ReadonlyArray<CopiedRow>): void {
    this.rows += rows.length
    // Values of one column have one type, so a number as text never equals a text.
    const text = rows.map((row) =>
      JSON.stringify(row, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
    )
    this.#hash.update(`${text.join("\n")}\n`)
  }

  report(table: string): CopiedTableReport {
    return { table, rows: this.rows, sha256: this.#hash.digest("hex") }
  }
}

interface Sides {
  readonly source: CopySource
  readonly target: CopyTarget
}

/** Reads a table in pieces, and yields to other fibers after each. */
const digestOf = Effect.fnUntraced(function* (
  table: AnyShape,
  rows: CopySource["rows"],
  onRows: (rows: ReadonlyArray<CopiedRow>) => Effect.Effect<void, StorageError>,
) {
  const digest = new Digest()
  yield* Stream.runForEach(rows(table), (piece) =>
    Effect.suspend(() => {
      digest.add(piece)
      return Effect.andThen(onRows(piece), Effect.yieldNow)
    }),
  )
  return digest.report(table.name)
})

/** The service heartbeat is not copied: no server has run on the copy. */
const withoutSignOfLife = ({ name, columns }: AnyShape, rows: ReadonlyArray<CopiedRow>) => {
  if (name !== "service_heartbeat") return rows
  const at = Object.keys(columns).indexOf("beat_at")
  return rows.map((row) => row.with(at, NEVER_MARKED))
}

const copyTables = Effect.fnUntraced(function* ({ source, target }: Sides, report: Report) {
  const counts = yield* Effect.forEach(copiedTables, source.count)
  // Every row is written once, and read back once.
  const total = 2 * counts.reduce((sum, count) => sum + count, 0)
  let done = 0
  const pass = (rows: ReadonlyArray<CopiedRow>, of: string) =>
    Effect.sync(() => {
      done += rows.length
      report({ done, total, of })
    })
  const written: Array<CopiedTableReport> = []
  for (const table of copiedTables) {
    const write = (rows: ReadonlyArray<CopiedRow>) =>
      Effect.andThen(target.write(table, rows), pass(rows, `rows, copying ${table.name}`))
    const rows: CopySource["rows"] = (of) =>
      Stream.map(source.rows(of), (piece) => withoutSignOfLife(of, piece))
    written.push(yield* digestOf(table, rows, write))
  }
  yield* target.setLastSeq(yield* source.lastSeq)
  for (const [index, table] of copiedTables.entries()) {
    const found = yield* digestOf(table, target.rows, (rows) => pass(rows, `rows, verifying ${table.name}`))
    const expected = written[index]
    if (found.rows === expected?.rows && found.sha256 === expected.sha256) continue
    return yield* new CopyDiffers({
      message: `table ${table.name} differs from its source after the copy (${found.rows} of ${expected?.rows} rows): the copy was discarded; check the target's disk, and report this`,
    })
  }
  return written
})

/**
 * Copies one snapshot of a storage into an empty one and verifies it. The target keeps all of it or
 * nothing, so an interrupted run can be repeated.
 */
export const copyStorage = (from: StoragePlace, to: StoragePlace, report: Report) =>
  to.withTarget((target) => from.withSource((source) => copyTables({ source, target }, report)))
