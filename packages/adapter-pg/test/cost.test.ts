import { assert, layer } from "@effect/vitest"
import { AgentId } from "@tocsin/core/contract/Identifiers"
import type { CheckStatus } from "@tocsin/core/contract/Status"
import { claimOutbox } from "@tocsin/core/notifications/claimOutbox"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { openReplica, type Replica } from "@tocsin/test/storage/Replica"
import { enroll, eventOf, heartbeatOf, keyOf, send } from "@tocsin/test/storage/samples"
import { Duration, Effect, Layer } from "effect"
import * as PgStorage from "../src/PgStorage.ts"
import { type TableStatistics, tableStatistics } from "./tableStatistics.ts"

const range = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, n) => n)

/** Runs `use` over a new client of the storage, and closes that. */
const withReplica = <A, E>(use: (replica: Replica) => Effect.Effect<A, E>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { url } = yield* ScratchPostgres
      const subject = { name: "PostgreSQL", place: Layer.empty, client: PgStorage.layer({ url }) }
      return yield* use(yield* openReplica(subject))
    }),
  )

const observer = Effect.flatMap(ScratchPostgres, ({ replica }) => replica({ maxConnections: 1 }))

const CHECKS = 50

/** A batch of one result of every check. */
const batchOf = (round: number, status: CheckStatus, changes: { readonly incident_key?: string } = {}) =>
  range(CHECKS).map((n) =>
    eventOf(round * CHECKS + n, { check_id: `check-${n}`, status, output: `output ${round}`, ...changes }),
  )

/** How much a table's statistics grew. */
const grown = (
  before: ReadonlyMap<string, TableStatistics>,
  after: ReadonlyMap<string, TableStatistics>,
  table: string,
  what: Exclude<keyof TableStatistics, "name">,
): number => Number((after.get(table)?.[what] ?? 0n) - (before.get(table)?.[what] ?? 0n))

layer(ScratchPostgres.layer)("transactions", (it) => {
  it.effect("never read a whole table, though they are planned while it is empty", () =>
    Effect.gen(function* () {
      const { sql } = yield* observer
      yield* withReplica(() => Effect.void)
      const before = yield* tableStatistics({ ...(yield* observer), sql })
      yield* withReplica(
        Effect.fnUntraced(function* (replica) {
          // Often enough for PostgreSQL to make its plans for good.
          for (const round of range(8)) {
            const agents = range(3).map((n) => `agent-${round}-${n}`)
            yield* enroll(replica, ...agents)
            for (const agent of agents) {
              yield* replica.ingest.heartbeat(keyOf(agent), heartbeatOf(agent))
              yield* send(replica, agent, batchOf(0, "critical", { incident_key: `shared ${round}` }))
              yield* send(replica, agent, batchOf(1, "warning"))
              yield* send(replica, agent, batchOf(2, "ok"))
            }
            const claim = { notifiers: ["debug" as const], limit: 10, lease: Duration.seconds(60), random: 0 }
            yield* replica.storage.transact(claimOutbox(claim))
            yield* replica.admission.block(AgentId.make(agents[0] ?? ""))
            yield* replica.admission.remove(AgentId.make(agents[1] ?? ""))
            yield* replica.admission.unblockAll
          }
        }),
      )
      const after = yield* tableStatistics({ ...(yield* observer), sql })
      const scans = Array.from(after.keys()).map((table) => [table, grown(before, after, table, "seq_scan")])
      assert.deepStrictEqual(
        scans.filter(([table, count]) => table !== "schema_migration" && count !== 0),
        [],
      )
    }),
  )
})
