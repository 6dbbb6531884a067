import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { Effect } from "effect"
import { atMost, incidentIdOf, incidentRecord, write } from "./records.ts"
import { openReplica } from "./Replica.ts"
import { start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { range } from "./numbers.ts"

/** The part of its scenario that an incident keeps. */
export const scenarioSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("scenarios", () => {
    it.effect("keep the first 100 and the last 900 of more than 1,000 changes", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const changeOf = (name: string, seq: number) => ({
          incident_id: incidentIdOf(name),
          seq,
          changed_at: start,
          change: "worsened" as const,
          agent_id: AgentId.make("a"),
          check_id: CheckId.make("disk"),
          severity: "critical" as const,
          incident_severity: "critical" as const,
          is_late: undefined,
        })
        const last = 1_007
        yield* write(replica, [], (unit) => {
          for (const name of ["long", "short"]) unit.incidents.put(incidentRecord(name))
          for (const n of range(300)) unit.recordChange(changeOf("short", n + 1))
        })
        for (let from = 0; from < last; from += 500) {
          yield* write(replica, [], (unit) => {
            for (const n of range(Math.min(500, last - from)))
              unit.recordChange(changeOf("long", from + n + 1))
          })
        }
        const seqsOf = (name: string) =>
          Effect.map(replica.storage.incident(incidentIdOf(name), atMost(2_000)), (scenario) =>
            scenario?.changes.map((change) => change.seq),
          )
        const newest = range(900).map((n) => last - n)
        const oldest = range(100).map((n) => 100 - n)
        assert.deepStrictEqual(yield* seqsOf("long"), [...newest, ...oldest])
        assert.deepStrictEqual(
          yield* seqsOf("short"),
          range(300).map((n) => 300 - n),
        )
      }),
    )
  })
}
