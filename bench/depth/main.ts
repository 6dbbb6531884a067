import { DatabaseSync } from "node:sqlite"
import process from "node:process"
import { parseArgs } from "node:util"
import * as Instant from "@tocsin/contract/formats/Instant"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import pg from "pg"
import { ClockAtSeed } from "./ClockAtSeed.ts"
import type { RunSql } from "./deepPosition.ts"
import { type Depth, measureDepth } from "./measureDepth.ts"

const USAGE = `Measures lists, first pages and deep ones, and the summary of a storage that bench/seed/main.ts filled.

  node bench/depth/main.ts --database postgres://…  |  --file tocsin.db    [--rounds 11] [--json]`

const { values } = parseArgs({
  options: {
    database: { type: "string" },
    file: { type: "string" },
    rounds: { type: "string", default: "11" },
    json: { type: "boolean", default: false },
    help: { type: "boolean" },
  },
})

/** A storage with a way to run other statements beside it. */
interface Opened {
  readonly layer: Layer.Layer<Storage, unknown>
  readonly run: RunSql
  readonly close: () => Promise<void>
}

const openPostgres = async (url: string): Promise<Opened> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { layer } = await import("@tocsin/adapter-pg/PgStorage")
  return {
    layer: layer({ url: Redacted.make(url) }),
    run: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
    close: () => client.end(),
  }
}

const openSqlite = async (file: string): Promise<Opened> => {
  const database = new DatabaseSync(file, { readBigInts: true })
  const { layer } = await import("@tocsin/adapter-sqlite/SqliteStorage")
  return {
    layer: layer({ file }),
    run: (sql) => Promise.resolve(database.prepare(sql).all()),
    close: () => Promise.resolve(database.close()),
  }
}

const measure = ({ layer, run }: Opened): Promise<Depth> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const storage = Context.get(yield* Layer.build(layer), Storage)
        const base = yield* Clock.Clock
        const leftAt = (yield* storage.serviceHeartbeat)?.beat_at
        if (leftAt === undefined) throw new Error("this storage was not filled by bench/seed/main.ts")
        return yield* Effect.promise(() =>
          measureDepth({
            storage,
            run,
            clock: new ClockAtSeed(base, leftAt),
            aliveSince: Instant.minus(leftAt, defaultRules.staleAfter),
            rounds: Number(values.rounds),
            report: (line) => process.stderr.write(`${line}\n`),
          }),
        )
      }),
    ),
  )

const summarise = ({ lists, summaryMillis, slowestSummaryMillis }: Depth): string => {
  const ratios = lists
    .map(({ firstMillis, deepMillis }) => deepMillis / firstMillis)
    .toSorted((a, b) => a - b)
  const slowest = lists.toSorted((a, b) => b.deepMillis - a.deepMillis)[0]
  return [
    `${lists.length} lists: deep page / first page: median ${ratios[ratios.length >> 1]?.toFixed(2)}, worst ${ratios.at(-1)?.toFixed(2)}`,
    `slowest page: ${slowest?.deepMillis.toFixed(1)} ms (${slowest?.name})`,
    `summary: ${summaryMillis.toFixed(1)} ms, the slowest ${slowestSummaryMillis.toFixed(1)} ms`,
  ].join("\n")
}

const { database, file } = values
if ((database === undefined) === (file === undefined)) {
  process.stderr.write(`${USAGE}\n`)
  process.exitCode = values.help === true ? 0 : 2
} else {
  const opened = database === undefined ? await openSqlite(file ?? "") : await openPostgres(database)
  const depth = await measure(opened)
  await opened.close()
  process.stdout.write(values.json ? `${JSON.stringify(depth, null, 2)}\n` : `${summarise(depth)}\n`)
}
