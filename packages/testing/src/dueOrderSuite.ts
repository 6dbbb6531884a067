import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/Identifiers"
import type { NotifierName } from "@tocsin/contract/Status"
import type { RowRequest } from "@tocsin/core/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/unitOfWork/UnitOfWork"
import { Effect } from "effect"
import { observe } from "./observe.ts"
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
  readonly request: (limit: number) => RowRequest
  /** Puts the rows of a number, which are due at the start. */
  readonly put: (unit: UnitOfWork, n: number) => void
  /** The row that a search finds for a number, as text. */
  readonly idOf: (n: number) => string
  readonly found: (unit: UnitOfWork) => ReadonlyArray<string>
}

const putIncident = (unit: UnitOfWork, n: number): void => unit.incidents.put(incidentRecord(`${n}`))

const itemOf = (n: number, changes: Parameters<typeof outboxRecord>[2]) =>
  outboxRecord(`${n}`, `${n}`, { receiver: RECEIVERS[n % 2] ?? "debug", ...changes })

const toBeSent: DueSearch = {
  request: (limit) => ({ claimableOutbox: { receivers: RECEIVERS, limit } }),
  put: (unit, n) => {
    putIncident(unit, n)
    unit.outbox.put(itemOf(n, {}))
  },
  idOf: (n) => outboxIdOf(`${n}`),
  found: ({ searchResults: found }) => found.claimableOutbox.map(({ row }) => row.id),
}

const SEARCHES: Readonly<Record<string, DueSearch>> = {
  "items to be sent": toBeSent,
  "items whose lease has expired": {
    request: (limit) => ({ claimableOutbox: { receivers: RECEIVERS, limit } }),
    put: (unit, n) => {
      putIncident(unit, n)
      unit.outbox.put(itemOf(n, sending(LONG_AGO)))
    },
    idOf: (n) => outboxIdOf(`${n}`),
    found: ({ searchResults: found }) => found.expiredOutbox.map(({ id }) => id),
  },
  "held items": {
    request: (limit) => ({ heldOutbox: { receivers: RECEIVERS, limit } }),
    put: (unit, n) => {
      putIncident(unit, n)
      const held = { next_attempt_at: undefined, held_by: ["ack"], next_evaluation_at: start } as const
      unit.outbox.put(itemOf(n, held))
    },
    idOf: (n) => outboxIdOf(`${n}`),
    found: ({ searchResults: found }) =>
      found.heldOutbox.map((id) => outboxIdOf(String(range(COUNT).find((n) => incidentIdOf(`${n}`) === id)))),
  },
  "incidents to be evaluated": {
    request: (limit) => ({ dueIncidents: { limit } }),
    put: (unit, n) => unit.incidents.put(incidentRecord(`${n}`, { next_evaluation_at: start })),
    idOf: (n) => incidentIdOf(`${n}`),
    found: ({ searchResults: found }) => found.dueIncidents,
  },
  "alerts, by incident and severity": {
    request: (limit) => ({ claimableAlerts: { receiver: "alert_router", limit } }),
    put: (unit, n) => {
      const severity = n % 2 === 0 ? "critical" : "warning"
      const incident = `${n - (n % 2)}`
      unit.incidents.put(incidentRecord(incident))
      unit.alerts.put(alertRecord(incident, { severity, leased_until: LONG_AGO }))
    },
    idOf: (n) => `${incidentIdOf(`${n - (n % 2)}`)} ${n % 2 === 0 ? "critical" : "warning"}`,
    found: ({ searchResults: found }) =>
      found.claimableAlerts.map(({ row }) => `${row.incident_id} ${row.severity}`),
  },
  "pending agents to be removed": {
    request: (limit) => ({ idlePendingAgents: { seenBefore: start, limit } }),
    put: (unit, n) => {
      const pending = { admission_state: "pending", accepted_key_hash: undefined } as const
      unit.agents.put(agentRecord(`${(n * 7) % COUNT}`, pending))
    },
    idOf: (n) => AgentId.make(`${n}`),
    found: ({ searchResults: found }) => found.idlePendingAgents,
  },
}

/** Of rows that are due at one moment, a search finds those of the least ids, on every storage. */
export const dueOrderSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("rows due at one moment are found in the order of their ids", () => {
    it.effect.each(Object.entries(SEARCHES))("%s", ([, { found, idOf, put, request }]) =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [])
        const search = (limit: number) => observe(replica, [request(limit)], found)
        for (const n of range(COUNT)) yield* write(replica, [], (unit) => put(unit, n))
        const inOrder = range(COUNT).map(idOf).toSorted()
        assert.deepStrictEqual(yield* search(COUNT), inOrder)
        assert.deepStrictEqual(yield* search(LIMIT), inOrder.slice(0, LIMIT))
      }),
    )

    it.effect("and those that a policy made owed after all others, though they are longer due", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [])
        const { found, request } = toBeSent
        yield* write(replica, [], (unit) => {
          for (const n of range(COUNT)) {
            putIncident(unit, n)
            const changes = n < LIMIT ? { next_attempt_at: LONG_AGO, is_backfill: true } : {}
            unit.outbox.put(itemOf(n, changes))
          }
        })
        const idsOf = (ns: ReadonlyArray<number>) => ns.map((n) => outboxIdOf(`${n}`)).toSorted()
        const inOrder = [...idsOf(range(COUNT).slice(LIMIT)), ...idsOf(range(LIMIT))]
        assert.deepStrictEqual(yield* observe(replica, [request(COUNT)], found), inOrder)
        assert.deepStrictEqual(yield* observe(replica, [request(LIMIT)], found), inOrder.slice(0, LIMIT))
      }),
    )
  })
}
