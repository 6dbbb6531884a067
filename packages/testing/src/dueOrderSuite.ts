import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { Effect, identity } from "effect"
import { search } from "./observe.ts"
import type { Replica } from "./Replica.ts"
import { LONG_AGO, openWith, sending } from "./outboxItems.ts"
import {
  agentRecord,
  alertRecord,
  incidentIdOf,
  incidentRecord,
  outboxIdOf,
  outboxRecord,
  write,
} from "./records.ts"
import { range } from "./numbers.ts"
import { start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** Rows of one moment; their ids are in another order than their numbers. */
const COUNT = 12
/** Fewer than there are. */
const LIMIT = 5

const RECEIVERS: ReadonlyArray<NotifierName> = ["debug", "webhook"]

interface DueSearch {
  /** Puts the rows of a number, which are due at the start. */
  readonly put: (unit: UnitOfWork, n: number) => void
  /** The row that a search finds for a number, as text. */
  readonly idOf: (n: number) => string
  readonly found: (replica: Replica, limit: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
}

const putIncident = (unit: UnitOfWork, n: number): void => unit.incidents.put(incidentRecord(`${n}`))

const itemOf = (n: number, changes: Parameters<typeof outboxRecord>[2]) =>
  outboxRecord(`${n}`, `${n}`, { receiver: RECEIVERS[n % 2] ?? "debug", ...changes })

const toBeSent: DueSearch = {
  put: (unit, n) => {
    putIncident(unit, n)
    unit.outbox.put(itemOf(n, {}))
  },
  idOf: (n) => outboxIdOf(`${n}`),
  found: (replica, limit) =>
    search(replica, "claimableOutbox", { receivers: RECEIVERS, limit }, ({ due }) =>
      due.map(({ row }) => row.id),
    ),
}

const SEARCHES: Readonly<Record<string, DueSearch>> = {
  "items to be sent": toBeSent,
  "items whose lease has expired": {
    put: (unit, n) => {
      putIncident(unit, n)
      unit.outbox.put(itemOf(n, sending(LONG_AGO)))
    },
    idOf: (n) => outboxIdOf(`${n}`),
    found: (replica, limit) =>
      search(replica, "claimableOutbox", { receivers: RECEIVERS, limit }, ({ expired }) =>
        expired.map(({ id }) => id),
      ),
  },
  "held items": {
    put: (unit, n) => {
      putIncident(unit, n)
      const held = { next_attempt_at: undefined, holds: [{ by: "ack" }], next_evaluation_at: start } as const
      unit.outbox.put(itemOf(n, held))
    },
    idOf: (n) => outboxIdOf(`${n}`),
    found: (replica, limit) =>
      search(replica, "heldOutbox", { receivers: RECEIVERS, limit }, (ids) =>
        ids.map((id) => outboxIdOf(String(range(COUNT).find((n) => incidentIdOf(`${n}`) === id)))),
      ),
  },
  "incidents to be evaluated": {
    put: (unit, n) => unit.incidents.put(incidentRecord(`${n}`, { next_evaluation_at: start })),
    idOf: (n) => incidentIdOf(`${n}`),
    found: (replica, limit) => search(replica, "dueIncidents", { limit }, identity),
  },
  "alerts, by incident and severity": {
    put: (unit, n) => {
      const severity = n % 2 === 0 ? "critical" : "warning"
      const incident = `${n - (n % 2)}`
      unit.incidents.put(incidentRecord(incident))
      unit.alerts.put(alertRecord(incident, { severity, leased_until: LONG_AGO }))
    },
    idOf: (n) => `${incidentIdOf(`${n - (n % 2)}`)} ${n % 2 === 0 ? "critical" : "warning"}`,
    found: (replica, limit) =>
      search(replica, "claimableAlerts", { receiver: "alert_router", limit }, ({ due }) =>
        due.map(({ row }) => `${row.incident_id} ${row.severity}`),
      ),
  },
  "pending agents to be removed": {
    put: (unit, n) => {
      const pending = { admission_state: "pending", accepted_key_hash: undefined } as const
      unit.agents.put(agentRecord(`${(n * 7) % COUNT}`, pending))
    },
    idOf: (n) => AgentId.make(`${n}`),
    found: (replica, limit) => search(replica, "idlePendingAgents", { seenBefore: start, limit }, identity),
  },
}

/** Of rows that are due at one moment, a search finds those of the least ids, on every storage. */
export const dueOrderSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("rows due at one moment are found in the order of their ids", () => {
    it.effect.each(Object.entries(SEARCHES))("%s", ([, { found, idOf, put }]) =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [])
        const first = (limit: number) => found(replica, limit)
        for (const n of range(COUNT)) yield* write(replica, [], (unit) => put(unit, n))
        const inOrder = range(COUNT).map(idOf).toSorted()
        assert.deepStrictEqual(yield* first(COUNT), inOrder)
        assert.deepStrictEqual(yield* first(LIMIT), inOrder.slice(0, LIMIT))
      }),
    )

    it.effect("and those that a policy made owed after all others, though they are longer due", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [])
        yield* write(replica, [], (unit) => {
          for (const n of range(COUNT)) {
            putIncident(unit, n)
            const changes = n < LIMIT ? { next_attempt_at: LONG_AGO, is_backfill: true } : {}
            unit.outbox.put(itemOf(n, changes))
          }
        })
        const idsOf = (ns: ReadonlyArray<number>) => ns.map((n) => outboxIdOf(`${n}`)).toSorted()
        const inOrder = [...idsOf(range(COUNT).slice(LIMIT)), ...idsOf(range(LIMIT))]
        assert.deepStrictEqual(yield* toBeSent.found(replica, COUNT), inOrder)
        assert.deepStrictEqual(yield* toBeSent.found(replica, LIMIT), inOrder.slice(0, LIMIT))
      }),
    )
  })
}
