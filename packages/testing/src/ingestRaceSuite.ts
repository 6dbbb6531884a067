import { assert, describe } from "@effect/vitest"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { Effect } from "effect"
import { inconsistencies } from "./inconsistencies.ts"
import { atOnce, race } from "./race.ts"
import { agentRecord } from "./records.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, type EventChanges, heartbeatOf, keyOf, send } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"
import { range, sum } from "./numbers.ts"

const STATUSES: ReadonlyArray<CheckStatus> = ["critical", "ok", "warning", "unknown"]

/** The n-th status of a sender: any two senders differ, and each ends as `n` says. */
const statusOf = (sender: number, n: number): CheckStatus =>
  STATUSES[(sender * 7 + n * (sender + 1)) % 4] ?? "ok"

const describeBatches = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "a batch sent many times concurrently counts once" }, (replica) =>
    Effect.gen(function* () {
      yield* enroll(replica(0), "a")
      const batch = range(30).map((n) =>
        eventOf(n, { check_id: `check-${n % 10}`, exit_code: n, incident_key: `key ${n % 3}` }),
      )
      const replies = yield* Effect.forEach(range(16), (n) => send(replica(n), "a", batch), atOnce)
      assert.strictEqual(sum(replies.map((reply) => reply.accepted)), batch.length)
      assert.strictEqual(sum(replies.map((reply) => reply.deduplicated)), 15 * batch.length)
      const history = yield* rowsOf(replica(0), "history")
      assert.deepStrictEqual(
        history.map((row) => row.event_id),
        batch.map((event) => event.event_id).toReversed(),
      )
      assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
    }),
  )

  race(
    subject,
    { name: "overlapping batches of one agent count each event once", alsoAlone: true },
    (replica) =>
      Effect.gen(function* () {
        yield* enroll(replica(0), "a")
        // Each event has a different check, so none can be late.
        const events = range(60).map((n) => eventOf(n, { check_id: `check-${n}` }))
        const replies = yield* Effect.forEach(
          range(12),
          (n) => {
            const part = events.slice(n * 3, n * 3 + 27)
            return send(replica(n), "a", n % 2 === 0 ? part : part.toReversed())
          },
          atOnce,
        )
        assert.strictEqual(sum(replies.map((reply) => reply.accepted)), 60)
        assert.strictEqual((yield* rowsOf(replica(1), "history")).length, 60)
        assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
      }),
  )

  race(subject, { name: "no update of a row is lost", alsoAlone: true }, (replica) =>
    Effect.gen(function* () {
      const agent_id = AgentId.make("a")
      const increment = (n: number) =>
        transact(replica(n).storage, function* (unit) {
          yield { agents: [agent_id] }
          const agent = unit.agents.get(agent_id) ?? agentRecord("a")
          unit.putAgent({ ...agent, checks_ok: agent.checks_ok + 1 })
          return agent.checks_ok
        })
      const seen = yield* Effect.forEach(range(100), increment, atOnce)
      assert.deepStrictEqual(
        seen.toSorted((a, b) => a - b),
        range(100),
      )
      assert.strictEqual((yield* replica(0).storage.agent(agent_id))?.checks_ok, 100)
    }),
  )
}

const describeIncidents = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "concurrent openers open one incident" }, (replica) =>
    Effect.gen(function* () {
      const agents = range(24).map((n) => `agent-${n}`)
      yield* enroll(replica(0), ...agents)
      for (const round of range(3)) {
        const say = (changes: EventChanges) =>
          Effect.forEach(
            agents,
            (agent, n) =>
              send(replica(n), agent, [eventOf(2 * round + (changes.status === "ok" ? 1 : 0), changes)]),
            atOnce,
          )
        yield* say({ incident_key: "shared" })
        const open = yield* rowsOf(replica(0), "incidents", { state: "open" })
        assert.deepStrictEqual(
          open.map((row) => row.members_critical),
          [agents.length],
        )
        const firings = yield* rowsOf(replica(0), "outbox", { state: "pending" })
        assert.deepStrictEqual(
          firings.map((row) => row.incident_id),
          open.map((row) => row.id),
        )
        assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
        yield* say({ status: "ok", exit_code: 0 })
        const incidents = yield* rowsOf(replica(0), "incidents")
        assert.deepStrictEqual(
          incidents.map((row) => row.state),
          range(round + 1).map(() => "resolved" as const),
        )
      }
      assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
    }),
  )

  race(
    subject,
    { name: "concurrent joins, leaves and changes of shared incidents add up", alsoAlone: true },
    (replica) =>
      Effect.gen(function* () {
        const agents = range(16).map((n) => `agent-${n}`)
        yield* enroll(replica(0), ...agents)
        const rounds = 8
        const event = (agent: number, n: number) =>
          eventOf(n, {
            status: statusOf(agent, n),
            incident_key: `shared ${(agent + n) % 2}`,
            check_id: `check-${n % 2}`,
            output: `output ${n} of ${agent}`,
          })
        yield* Effect.forEach(
          agents,
          (agent, index) =>
            Effect.forEach(range(rounds), (n) =>
              send(replica(index + n), agent, [event(index, 2 * n), event(index, 2 * n + 1)]),
            ),
          atOnce,
        )
        const expected = agents.flatMap((_, index) => [
          event(index, 2 * rounds - 2),
          event(index, 2 * rounds - 1),
        ])
        const counts = yield* replica(0).queries.summary
        for (const status of STATUSES) {
          const count = expected.filter((last) => last.status === status).length
          assert.strictEqual(counts[`checks_${status}`], count, status)
        }
        assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
        const calm = range(2).map((n) =>
          eventOf(100 + n, { check_id: `check-${n}`, status: "ok", exit_code: 0 }),
        )
        yield* Effect.forEach(agents, (agent, n) => send(replica(n), agent, calm), atOnce)
        assert.strictEqual((yield* replica(0).queries.summary).open_incidents, 0)
        assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
      }),
  )

  race(
    subject,
    {
      name: "heartbeats, events and shared incidents in crossing order end without a deadlock",
      alsoAlone: true,
    },
    (replica) =>
      Effect.gen(function* () {
        const agents = range(8).map((n) => `agent-${n}`)
        yield* enroll(replica(0), ...agents)
        const keys = range(6).map((n) => `key ${n}`)
        yield* Effect.forEach(
          range(80),
          (n): Effect.Effect<unknown, unknown> => {
            const agent = agents[n % agents.length] ?? ""
            // Ever another check first, so that incidents are met in every order.
            const events = keys.map((_, k) => {
              const at = (k + n) % keys.length
              return eventOf(n, {
                event_id: eventOf(1_000 * n + at).event_id,
                check_id: `check-${at}`,
                incident_key: keys[at] ?? "",
                status: statusOf(at, n),
              })
            })
            return n % 5 === 4
              ? replica(n).ingest.heartbeat(keyOf(agent), heartbeatOf(agent))
              : send(replica(n), agent, events)
          },
          atOnce,
        )
        assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
      }),
  )
}

/** Concurrent results: the sums are right in every order of commits. */
export const ingestRaceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("concurrent results", () => {
    describeBatches(subject)
    describeIncidents(subject)
  })
}
