import { assert, layer } from "@effect/vitest"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { CurrentInstruments, Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { sweepStaleAgents } from "@tocsin/core/heart/deadAgents/heartbeatIncident"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import type { RetentionName } from "@tocsin/core/lists/retention/RetentionRules"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { expireAll } from "@tocsin/testing/expireAll"
import { agentRecord, write } from "@tocsin/testing/records"
import { newPlace } from "@tocsin/testing/Replica"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { agentNames, enroll, eventOf, heartbeatOf, keyOf, register, send } from "@tocsin/testing/samples"
import { Duration, Effect, Layer } from "effect"
import * as PgStorage from "../src/PgStorage.ts"
import { storageMetrics } from "@tocsin/core/kernel/engine/metrics/storageMetrics"

const NAMES = agentNames(5)
const HELD = "agent-2"
const FREE = NAMES.filter((name) => name !== HELD)

/**
 * A replica on an emptied database, and how to do something there while another session has a lock
 * and does nothing.
 */
const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const instruments = new Instruments()
  const client = PgStorage.layer({ url: scratch.url })
  const open = yield* newPlace({ name: "PostgreSQL", place: Layer.empty, client })
  const replica = yield* Effect.provideService(open, CurrentInstruments, instruments)
  const { sql } = yield* scratch.replica({ maxConnections: 1 })
  yield* sql.unsafe(
    "TRUNCATE agent, agent_key, check_state, check_event, incident, incident_member, outbox CASCADE",
  )
  const whileHeld = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    sql.withTransaction(
      Effect.andThen(
        sql`SELECT 1 FROM agent WHERE agent_id = ${HELD} FOR UPDATE`,
        Effect.provideService(effect, CurrentInstruments, instruments),
      ),
    )
  const sweep = sweepStaleAgents(replica.storage, replica.commits, {
    rules: defaultRules,
    incidents: replica.incidents,
    limit: 100,
  })
  return { replica, whileHeld, sweep, passedOver: instruments.of(storageMetrics).agentsPassedOver }
})

type Parts = Effect.Success<typeof setUp>

const agentIds = (
  rows: ReadonlyArray<{ readonly agent_id?: AgentId | undefined }>,
): ReadonlyArray<string | undefined> => rows.map((row) => row.agent_id).toSorted()

const stored = ({ replica }: Parts) => Effect.map(rowsOf(replica, "agents"), agentIds)

const beatWithNewKeys = ({ replica }: Parts) =>
  Effect.forEach(NAMES, (name) => replica.ingest.heartbeat(keyOf(`${name} next`), heartbeatOf(name)))

// Live, because work that meets a held agent comes back to it after a moment.
layer(ScratchPostgres.layerMigrated, { excludeTestServices: true })(
  "an agent whose row another session holds",
  (it) => {
    it.effect("is skipped by the search for dead agents, and found once it is free", () =>
      Effect.gen(function* () {
        const { passedOver, replica, sweep, whileHeld } = yield* setUp
        yield* write(replica, [], (unit) => {
          for (const name of NAMES) unit.agents.put(agentRecord(name))
        })
        const dead = Effect.map(rowsOf(replica, "incidents"), agentIds)
        assert.strictEqual(yield* whileHeld(sweep), FREE.length)
        assert.sameMembers([...(yield* dead)], FREE)
        assert.strictEqual(passedOver.dead_agents.value, 1)
        assert.strictEqual(yield* sweep, 1)
        assert.sameMembers([...(yield* dead)], [...NAMES])
      }),
    )

    it.effect("is skipped by actions on all pending agents, which count the others", () =>
      Effect.gen(function* () {
        const parts = yield* setUp
        const { passedOver, replica, whileHeld } = parts
        const { acceptAll, blockAll, removeAll } = replica.admission
        const accepted = acceptAll({ includeRotation: true })
        yield* register(replica, ...NAMES)
        assert.deepStrictEqual(yield* whileHeld(removeAll), { count: 4, skipped: 1 })
        assert.deepStrictEqual(yield* removeAll, { count: 1 })
        assert.strictEqual(passedOver.remove_all.value, 1)
        yield* register(replica, ...NAMES)
        assert.deepStrictEqual(yield* whileHeld(accepted), { count: 4, skipped: 1 })
        assert.deepStrictEqual(yield* accepted, { count: 1 })
        assert.strictEqual(passedOver.accept_all.value, 1)
        yield* beatWithNewKeys(parts)
        assert.deepStrictEqual(yield* whileHeld(blockAll), { count: 4, skipped: 1 })
        assert.deepStrictEqual(yield* blockAll, { count: 1 })
        assert.strictEqual(passedOver.block_all.value, 1)
        assert.sameMembers([...(yield* stored(parts))], [...NAMES])
      }),
    )

    it.effect("keeps its old history for a while, without delaying other retention", () =>
      Effect.gen(function* () {
        const { passedOver, replica, whileHeld } = yield* setUp
        yield* enroll(replica, ...NAMES)
        for (const name of NAMES) {
          yield* send(replica, name, [eventOf(1), eventOf(2, { exit_code: 3 }), eventOf(3, { status: "ok" })])
        }
        const later = Instant.plus(yield* Instant.now, Duration.hours(1))
        const expire = (rule: RetentionName, limit: number) =>
          expireAll(replica.storage, { rule, before: later, limit })
        let removed = 0
        yield* whileHeld(
          Effect.gen(function* () {
            // A piece of one row meets those of the held agent again and again.
            removed = yield* expire("history", 1)
            yield* expire("outbox", 100)
            yield* expire("incidents", 100)
          }),
        )
        assert.strictEqual(removed, 2 * FREE.length)
        assert.deepStrictEqual(yield* rowsOf(replica, "incidents"), [])
        assert.isAtLeast(passedOver.history.value, 1)
        assert.deepStrictEqual(
          agentIds(yield* rowsOf(replica, "history")),
          [...FREE, HELD, HELD, HELD].toSorted(),
        )
        assert.strictEqual(yield* expire("history", 100), 2)
      }),
    )
  },
)
