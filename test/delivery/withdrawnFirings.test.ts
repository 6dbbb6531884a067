import { assert, describe, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import { recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { Effect, Layer } from "effect"
import { after, enqueue, openWith, sending } from "@tocsin/testing/outboxItems"
import { incidentIdOf, incidentRecord, outboxIdOf, write } from "@tocsin/testing/records"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { start } from "@tocsin/testing/samples"
import { transact } from "@tocsin/testing/transact"

const memory = { name: "memory", place: Layer.empty, client: MemoryStorage.layer }

/** How the incident of a claimed firing ended before the firing was attempted. */
const ENDS = {
  open: {},
  recovered: { state: "resolved", resolved_at: start, resolved_by: "event" },
  "agent deleted": { state: "resolved", resolved_at: start, resolved_by: "agent_gone" },
} satisfies Record<string, Partial<IncidentRecord>>

/** Each end, the number of the claim, and the firing and its resolved after a claim that was not attempted. */
const CASES = [
  ["open", 1, "pending", undefined, "pending"],
  ["open", 2, "pending", undefined, "pending"],
  ["recovered", 1, "discarded", "incident_resolved", "discarded"],
  // Its receiver may know of the incident: the firing comes, and then its end.
  ["recovered", 2, "pending", undefined, "pending"],
  ["agent deleted", 1, "discarded", "incident_resolved", "discarded"],
  ["agent deleted", 2, "discarded", "agent_gone", "discarded"],
] as const

describe("a claimed firing that was not attempted (docs/rules.md#delivery)", () => {
  for (const [end, claim, firing, because, resolved] of CASES) {
    it.effect(`is ${firing} after claim ${claim}, if its incident is ${end}`, () =>
      Effect.gen(function* () {
        const leased_until = after(60)
        const attempts = {
          attempts: claim,
          first_attempted_at: after(claim === 1 ? 0 : -30),
          updated_at: start,
        }
        const replica = yield* openWith(memory, [
          ["firing", "a", { ...sending(leased_until), ...attempts, incident_seq: 1 }],
        ])
        if (end !== "open")
          yield* enqueue(replica, [["resolved", "a", { event_type: "resolved", incident_seq: 2 }]])
        yield* write(replica, [{ incidents: [incidentIdOf("a")] }], (unit) =>
          unit.incidents.put(incidentRecord("a", ENDS[end])),
        )
        const claimed = {
          id: outboxIdOf("firing"),
          incident_id: incidentIdOf("a"),
          leased_until,
          notifier: "debug",
        } as const
        const result = { outcome: "unsent" } as const
        yield* transact(replica.storage, recordResults([{ claim: claimed, result, random: 0 }]))
        const found = Object.fromEntries(
          (yield* rowsOf(replica, "outbox")).map(({ discarded_because, event_type, state }) => [
            event_type,
            [state, discarded_because],
          ]),
        )
        const ofResolved = resolved === "discarded" ? "firing_refused" : undefined
        assert.deepStrictEqual(found, {
          firing: [firing, because],
          ...(end !== "open" && { resolved: [resolved, ofResolved] }),
        })
      }),
    )
  }
})
