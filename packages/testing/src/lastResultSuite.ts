import { assert, describe, it } from "@effect/vitest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { LastResult, MemberCheck } from "@tocsin/core/kernel/model/LastResult"
import type { IncidentTimeline } from "@tocsin/core/kernel/ports/Storage"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { NAME, open, sends } from "./alertSender.ts"
import { atMost, registrationIdOf } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, send, start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** The present members of all incidents, as messages ask for them. */
const membersOf = Effect.fnUntraced(function* ({ storage, ...replica }: Replica) {
  const incidents = yield* rowsOf({ storage, ...replica }, "incidents")
  const timelines = yield* Effect.forEach(incidents, ({ id }) => storage.incident(id, atMost(10)))
  const members = timelines.flatMap((timeline: IncidentTimeline | undefined) => timeline?.members ?? [])
  return yield* Effect.forEach(members, (member) =>
    Effect.map(storage.agent(member.agent_id), (agent): MemberCheck => {
      const { agent_id, change_seq, check_id, incident_id } = member
      const { registration_id } = agent ?? assert.fail("no agent")
      return { agent_id, change_seq, check_id, incident_id, registration_id }
    }),
  )
})

const at = (seconds: number): Instant.Instant => Instant.plus(start, Duration.seconds(seconds))

/** The last results of checks, as messages have them. */
export const lastResultSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("the last results of members", () => {
    it.effect("are those of their checks now, with when their status changed", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const { storage } = replica
        yield* TestClock.setTime(Number(start / 1_000n))
        yield* enroll(replica, "a", "b")
        const shared = { incident_key: "shared", duration_ms: 1_500 } as const
        yield* send(replica, "a", [eventOf(0, { ...shared, output: "97 %\nof /var" })])
        yield* send(replica, "b", [eventOf(1, { ...shared, check_id: "load", status: "warning" })])
        const first = yield* membersOf(replica)
        const [{ incident_id } = assert.fail("no member")] = first
        const read = (members: ReadonlyArray<MemberCheck>) =>
          Effect.map(storage.lastResults(members), (found) =>
            found.toSorted((one, other) => (one.status < other.status ? -1 : 1)),
          )
        const rest = { incident_id, address: undefined }
        const load: LastResult = {
          ...rest,
          status: "warning",
          output: undefined,
          changed_at: at(0),
          duration_ms: 1_500,
        }
        const disk = { ...load, status: "critical", output: "97 %\nof /var" } as const
        assert.deepStrictEqual(yield* read(first), [disk, load])
        assert.deepStrictEqual(yield* read([]), [])
        const unknown = first.map((member) => ({ ...member, check_id: CheckId.make("other") }))
        const gone = first.map((member) => ({ ...member, registration_id: registrationIdOf("c") }))
        assert.deepStrictEqual(yield* read([...unknown, ...gone]), [])

        // An unchanged result is not in the history, so that its duration is unknown.
        yield* TestClock.adjust("1 minute")
        yield* send(replica, "a", [eventOf(60, { ...shared, output: "98 %" })])
        assert.deepStrictEqual(yield* read(first), [
          { ...disk, output: "98 %", duration_ms: undefined },
          load,
        ])
        yield* send(replica, "b", [
          eventOf(61, { ...shared, check_id: "load", status: "unknown", duration_ms: 20 }),
        ])
        const later = yield* membersOf(replica)
        assert.deepStrictEqual(
          (yield* read(later)).map(({ changed_at, duration_ms }) => [changed_at, duration_ms]),
          [
            [at(0), undefined],
            [at(60), 20],
          ],
        )
      }),
    )

    it.effect("have the page of an alert", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const site = yield* open(replica)
        yield* sends(site, "a:9090", ["Load"], 240)
        const members = (yield* membersOf(replica)).filter(({ agent_id }) => agent_id === NAME)
        const [found] = yield* replica.storage.lastResults(members)
        assert.strictEqual(found?.address, "http://a:9090/graph")
        assert.strictEqual(found?.status, "critical")
      }),
    )
  })
}
