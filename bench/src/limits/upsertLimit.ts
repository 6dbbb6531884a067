import { Effect, type Scope } from "effect"
import pg from "pg"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import { cpuSeconds } from "../processes/cpuSeconds.ts"
import { worker } from "../processes/worker.ts"
import type { Sample } from "../report/Results.ts"
import { pgbench } from "./pgbench.ts"
import type { UpsertCommand, UpsertReply } from "./UpsertCommand.ts"
import { upsertTables } from "./upserts.ts"

/**
 * Takes one sample of upserts in a database of their own, by pgbench, or through `pg` where that is
 * not there.
 */
export type UpsertLimit = (command: Omit<UpsertCommand, "url">) => Effect.Effect<Sample, BenchFailure>

const createTables = (url: string) =>
  Effect.tryPromise({
    try: async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(upsertTables)
      await client.end()
    },
    catch: (cause) => new BenchFailure({ message: `no tables could be made: ${String(cause)}` }),
  })

const sampleOf = ({ rows, seconds, p50Millis, p99Millis }: UpsertReply, cpu: number | undefined): Sample => ({
  perSecond: rows / seconds,
  ...(p50Millis !== undefined && { p50Millis }),
  ...(p99Millis !== undefined && { p99Millis }),
  cpuMicros: cpu === undefined ? {} : { postgres: (cpu * 1e6) / rows },
})

/**
 * Prepares the PostgreSQL limit. With `through: "pg"` it has percentiles, which pgbench does not
 * give.
 */
export const upsertLimit = Effect.fnUntraced(function* (
  bench: Bench,
  through: "pgbench" | "pg",
): Effect.fn.Return<UpsertLimit, BenchFailure, Scope.Scope> {
  const postgres = yield* bench.postgres
  const url = yield* postgres.database
  yield* createTables(url)
  const folder = yield* bench.folder
  const program = through === "pgbench" ? postgres.programs.pgbench : undefined
  const client = yield* worker<UpsertCommand, UpsertReply>(new URL("./pgProcess.ts", import.meta.url))
  return Effect.fnUntraced(function* (options) {
    const command = { url, ...options }
    const before = cpuSeconds(postgres.pid)
    const reply = yield* program === undefined ? client.ask(command) : pgbench(program, command, folder)
    const after = cpuSeconds(postgres.pid)
    return sampleOf(reply, before === undefined || after === undefined ? undefined : after - before)
  })
})
