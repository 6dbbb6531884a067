import { assert, layer } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { SilenceId } from "@tocsin/contract/silences/Silences"
import { OperatorName } from "@tocsin/contract/operators/Operators"
import { lone, type Step } from "@tocsin/core/kernel/unitOfWork/Decision"
import { Search } from "@tocsin/core/kernel/unitOfWork/Search"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { type Replica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import {
  agentRecord,
  ALERT_RECEIVERS,
  alertRecord,
  blacklistIdOf,
  blockedKeyRecord,
  incidentIdOf,
  incidentRecord,
  keyHashOf,
  outboxIdOf,
  outboxRecord,
  registrationIdOf,
} from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import { transact } from "@tocsin/testing/transact"
import { Effect, Fiber } from "effect"
import { eventually } from "../client/eventually.ts"
import { openStorage } from "../openStorage.ts"
import { waitingForLocks } from "../waitingForLocks.ts"

const agent = AgentId.make("a")
const silenceIdOf = (name: string) => SilenceId.make(incidentIdOf(`silence ${name}`))

/** Two rows of each table whose rows requests name, and one of the others. */
const putRows = (unit: UnitOfWork): void => {
  for (const name of ["a", "b"]) {
    const { agent_id, key_fingerprint } = agentRecord(name)
    unit.agents.put(agentRecord(name))
    const seen = { created_at: start, last_seen_at: start }
    unit.keys.put({ ...seen, key_hash: keyHashOf(name), key_fingerprint, agent_id, state: "accepted" })
    unit.keys.put(blockedKeyRecord(`blocked-${name}`))
    unit.incidents.put(incidentRecord(name))
    unit.outbox.put(outboxRecord(name, name))
    for (const receiver of ALERT_RECEIVERS) unit.alerts.put(alertRecord(name, { receiver }))
    unit.of("operator").put({
      name: OperatorName.make(name),
      role: "read",
      token_hash: keyHashOf(`operator ${name}`),
      former_token_hash: undefined,
      former_valid_until: undefined,
      created_at: start,
      created_by: "eva",
      expires_at: undefined,
      last_used_at: undefined,
    })
    const times = { starts_at: start, ends_at: start, created_at: start }
    unit.of("silence").put({ ...times, id: silenceIdOf(name), matchers: [], comment: "", created_by: "eva" })
  }
  unit.of("service_heartbeat").put({
    name: "service",
    beat_at: start,
    outage_began_at: undefined,
    outage_ended_at: undefined,
  })
  unit.of("replica").put({
    id: registrationIdOf("replica"),
    version: "1.2.3",
    policy_hash: "",
    receivers: [],
    probes: false,
    agent_sha256: undefined,
    known_names: undefined,
    started_at: start,
    seen_at: start,
    ended_at: undefined,
  })
}

const TABLES = {
  agent: 2,
  agent_key: 4,
  incident: 2,
  outbox: 2,
  alert: 4,
  operator: 2,
  silence: 2,
  service_heartbeat: 1,
  replica: 1,
}

/** How many rows of each table are locked, and how many numbers; nothing where none is. */
const lockedIn = Effect.fnUntraced(function* ({ sql }: Replica) {
  const counts = yield* Effect.forEach(Object.entries(TABLES), ([table, all]) =>
    Effect.map(
      sql<{ x: number }>`SELECT 1 AS x FROM ${sql(table)} FOR UPDATE SKIP LOCKED`,
      (free) => [table, all - free.length] as const,
    ),
  )
  const numbers = yield* sql<{ objid: number }>`
    SELECT objid FROM pg_locks
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  `
  return Object.fromEntries(
    [...counts, ["numbers", numbers.length] as const].filter(([, count]) => count > 0),
  )
})

/** The rows that each request locks. */
const cases: ReadonlyArray<readonly [request: Step, locked: Readonly<Record<string, number>>]> = [
  [{ agents: [agent] }, { agent: 1 }],
  [{ rows: { agent_key: [keyHashOf("a")] } }, { agent_key: 1 }],
  [
    { agents: [agent], groups: { agent_key: [agent] } },
    { agent: 1, agent_key: 1 },
  ],
  [new Search("blockedKeys", [blacklistIdOf("blocked-a")]), { agent_key: 1 }],
  [{ incidents: [incidentIdOf("a")] }, { incident: 1, outbox: 1, alert: 2 }],
  [{ openIncidents: [incidentRecord("a")] }, { incident: 1, outbox: 1, alert: 2 }],
  [{ rows: { outbox: [outboxIdOf("a")] } }, { outbox: 1 }],
  [{ rows: { alert: [alertRecord("a")] } }, { alert: 1 }],
  [{ rows: { alert: [alertRecord("a", { receiver: "second_router" })] } }, { alert: 1 }],
  [{ rows: { operator: [OperatorName.make("a")] } }, { operator: 1 }],
  [{ rows: { silence: [silenceIdOf("a")] } }, { silence: 1 }],
  [{ rows: { service_heartbeat: ["service"] } }, { service_heartbeat: 1 }],
  // Where there may be no row to lock, a number is locked.
  [{ groups: { replica: ["all"] } }, { replica: 1, numbers: 1 }],
  [{ pendingAgents: true }, { numbers: 1 }],
  [new Search("unendedSilences", undefined), { numbers: 1 }],
]

layer(ScratchPostgres.layerMigrated)("a transaction", (it) => {
  it.effect("holds the locks of what it loads, and of nothing else, until it ends", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const storage = yield* openStorage({ url: scratch.url })
      const { sql } = yield* scratch.replica({ maxConnections: 1 })
      const observer = yield* scratch.replica({ maxConnections: 1 })
      // oxlint-disable-next-line eslint/require-yield -- a decision that has to see nothing
      yield* transact(storage, function* (unit) {
        putRows(unit)
      })
      const locks = yield* Effect.forEach(cases, ([request]) =>
        Effect.gen(function* () {
          const { fiber, locked } = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`LOCK TABLE incident_member`
              const child = yield* Effect.forkChild(
                transact(
                  storage,
                  lone(function* () {
                    yield request
                    yield { groups: { incident_member: [agent] } }
                  }),
                ),
              )
              yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
              return { fiber: child, locked: yield* lockedIn(observer) }
            }),
          )
          yield* Fiber.join(fiber)
          return locked
        }),
      )
      assert.deepStrictEqual(
        locks,
        cases.map(([, locked]) => locked),
      )
    }),
  )
})
