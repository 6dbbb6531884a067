import { assert, layer } from "@effect/vitest"
import { IncidentKey } from "@tocsin/contract/formats/Identifiers"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import { type Replica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { agentRecord, incidentIdOf, incidentRecord, keyHashOf } from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import { Effect, Fiber } from "effect"
import type { SqlError } from "effect/sql"
import { eventually } from "../client/eventually.ts"
import { openStorage } from "../openStorage.ts"
import { waitingForLocks } from "../waitingForLocks.ts"
import { transact } from "@tocsin/testing/transact"

const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const storage = yield* openStorage({ url: scratch.url })
  return { storage, observer: yield* scratch.replica(), holder: yield* scratch.replica() }
})

/** Runs `meanwhile` in a transaction that holds a lock, once `command` waits for it. */
const whileHeld = Effect.fnUntraced(function* <A>(
  { holder, observer }: { readonly holder: Replica; readonly observer: Replica },
  {
    lock,
    meanwhile,
  }: {
    readonly lock: Effect.Effect<unknown, SqlError.SqlError>
    readonly meanwhile: Effect.Effect<unknown, SqlError.SqlError>
  },
  waiting: Effect.Effect<A, StorageError>,
) {
  const fiber = yield* holder.sql.withTransaction(
    Effect.gen(function* () {
      yield* lock
      const child = yield* Effect.forkChild(waiting)
      yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
      yield* meanwhile
      return child
    }),
  )
  return yield* Fiber.join(fiber)
})

layer(ScratchPostgres.layerMigrated)("rows that change while a transaction waits for them", (it) => {
  it.effect(
    "an incident that is resolved, and another one opened for its key: the new one is the open one",
    () =>
      Effect.gen(function* () {
        const { holder, observer, storage } = yield* setUp
        const ref = { kind: "named" as const, incident_key: IncidentKey.make("shared") }
        // oxlint-disable-next-line eslint/require-yield -- a decision that has to see nothing
        yield* transact(storage, function* (unit) {
          unit.incidents.put(incidentRecord("shared"))
        })
        const [former, next] = [incidentIdOf("shared"), incidentIdOf("next")]
        const { sql } = holder
        const found = yield* whileHeld(
          { holder, observer },
          {
            lock: sql`SELECT 1 FROM incident WHERE id = ${former} FOR UPDATE`,
            meanwhile: Effect.andThen(
              sql`UPDATE incident SET state = 'resolved', resolved_at = ${start} WHERE id = ${former}`,
              sql`
              INSERT INTO incident (id, kind, incident_key, state, severity, opener_agent_id, opener_check_id, opened_at,
                                    member_changes, members_warning, members_unknown, members_critical)
              SELECT ${next}, kind, incident_key, 'open', 'warning', opener_agent_id, opener_check_id, opened_at, 1, 1, 0, 0
              FROM incident WHERE id = ${former}
            `,
            ),
          },
          transact(storage, function* (unit) {
            yield { openIncidents: [ref] }
            return { open: unit.openIncident(ref)?.id, former: unit.incidents.get(former)?.state }
          }),
        )
        assert.deepStrictEqual(found, { open: next, former: "resolved" })
      }),
  )

  it.effect(
    "an agent that another process registers at the same moment: the heartbeat is decided again",
    () =>
      Effect.gen(function* () {
        const { holder, observer, storage } = yield* setUp
        const { agent_id, registration_id } = agentRecord("a")
        const key_hash = keyHashOf("a")
        let decided = 0
        // As a first heartbeat looks: for the agent, then for the key.
        const look: Command<string> = function* (unit) {
          yield { agents: [agent_id] }
          decided += 1
          yield { rows: { agent_key: [key_hash] } }
          return `${unit.agents.get(agent_id)?.admission_state} ${unit.keys.get(key_hash)?.state}`
        }
        const { sql } = holder
        const seen = yield* whileHeld(
          { holder, observer },
          {
            lock: sql`LOCK TABLE agent_key`,
            meanwhile: Effect.andThen(
              sql`
              INSERT INTO agent (agent_id, registration_id, admission_state, hostname, features, observed_at, last_seen_at,
                                 registered_at, pending_key_hash, key_fingerprint,
                                 checks_ok, checks_warning, checks_critical, checks_unknown)
              VALUES (${agent_id}, ${registration_id}, 'pending', 'a', '{"push":true,"metrics":false}', 0, 0,
                      0, ${key_hash}, 'f', 0, 0, 0, 0)
            `,
              sql`
              INSERT INTO agent_key (key_hash, key_fingerprint, agent_id, state, created_at, last_seen_at)
              VALUES (${key_hash}, 'f', ${agent_id}, 'pending', 0, 0)
            `,
            ),
          },
          transact(storage, look),
        )
        assert.strictEqual(seen, "pending pending")
        assert.strictEqual(decided, 2)
      }),
  )
})
