import { assert, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { agentRecord, incidentIdOf, incidentRecord, keyHashOf, write } from "./records.ts"
import { openReplica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { start, START_MILLIS } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** An agent that was accepted and last seen at a moment. */
export const at = (micros: bigint) => ({
  last_seen_at: Instant.fromMicros(start + micros),
  reachable_from: Instant.fromMicros(start + micros),
})
/** A pending agent with a key of this name. */
export const pending = (name: string) =>
  ({ admission_state: "pending", accepted_key_hash: undefined, pending_key_hash: keyHashOf(name) }) as const

/** Silent agents, and how many are online. */
export const silentAgentSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect(
    "silent agents: accepted and last seen at or before the bound, without a heartbeat incident",
    () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const heartbeat_incident_id = incidentIdOf("x")
        yield* write(replica, [], (unit) => {
          unit.incidents.put(incidentRecord("x"))
          unit.agents.put(agentRecord("then", at(0n)))
          unit.agents.put(agentRecord("earlier", at(-1_000_000n)))
          unit.agents.put(agentRecord("after", at(1n)))
          const accepted = (micros: bigint) => ({
            ...at(-5n),
            reachable_from: Instant.fromMicros(start + micros),
          })
          unit.agents.put(agentRecord("accepted-then", accepted(0n)))
          unit.agents.put(agentRecord("accepted-after", accepted(1n)))
          unit.agents.put(agentRecord("known", { ...at(-5n), heartbeat_incident_id }))
          unit.agents.put(agentRecord("pending", { ...at(-5n), ...pending("pending") }))
        })
        const silent = (limit: number) =>
          Effect.map(replica.storage.staleAgents(start, limit), (ids) => ids.map((id): string => id))
        assert.deepStrictEqual(yield* silent(10), ["accepted-then", "earlier", "then"])
        assert.strictEqual((yield* silent(1)).length, 1)
      }),
  )

  it.effect("silent agents and the summary: right among thousands, as agents come and go between reads", () =>
    Effect.gen(function* () {
      const { staleAfter, deadAfter } = defaultRules
      const replica = yield* openReplica(subject)
      yield* TestClock.setTime(START_MILLIS)
      const names = Array.from({ length: 4_100 }, (_, n) => `agent-${n}`)
      const seen = (name: string, n: number) => agentRecord(name, at(BigInt(-n) * 50_000n))
      yield* write(replica, [], (unit) => {
        for (const [n, name] of names.entries()) unit.agents.put(seen(name, n))
      })
      const look = Effect.gen(function* () {
        const now = yield* Instant.now
        const { agents_online, agents_offline } = yield* replica.queries.summary
        const agents = yield* rowsOf(replica, "agents")
        const accepted = agents.filter((agent) => agent.admission_state === "accepted")
        const online = accepted.filter((agent) => agent.last_seen_at > Instant.minus(now, staleAfter)).length
        assert.deepStrictEqual(
          { agents_online, agents_offline },
          { agents_online: online, agents_offline: accepted.length - online },
        )
        const dead = accepted.filter((agent) => agent.last_seen_at <= Instant.minus(now, deadAfter))
        const silent = yield* replica.storage.staleAgents(Instant.minus(now, deadAfter), 500)
        assert.isTrue(silent.every((id) => dead.some((agent) => agent.agent_id === id)))
        assert.strictEqual(silent.length, Math.min(500, dead.length))
      })
      // The agents fall silent one after the other.
      for (const seconds of [0, 1, 30, 30, 40, 60, 100, 60]) {
        yield* TestClock.adjust(`${seconds} seconds`)
        yield* look
      }
      const lateStart = agentRecord("accepted-late", { ...at(-1n), ...pending("accepted-late") })
      yield* write(replica, [], (unit) => unit.agents.put(lateStart))
      yield* look
      yield* write(replica, [{ agents: [lateStart.agent_id, AgentId.make("agent-7")] }], (unit) => {
        unit.agents.put({ ...lateStart, ...agentRecord("accepted-late", at(-1n)) })
        unit.agents.delete(AgentId.make("agent-7"))
      })
      yield* look
    }),
  )

  it.effect("silent agents: found behind thousands that were accepted a moment ago", () =>
    Effect.gen(function* () {
      const { deadAfter, staleAfter } = defaultRules
      const replica = yield* openReplica(subject)
      yield* TestClock.setTime(START_MILLIS + 600_000)
      const now = yield* Instant.now
      const names = Array.from({ length: 4_100 }, (_, n) => `accepted-${n}`)
      yield* write(replica, [], (unit) => {
        for (const name of names) unit.agents.put(agentRecord(name, { ...at(0n), reachable_from: now }))
        unit.agents.put(agentRecord("silent", at(1n)))
        unit.agents.put(agentRecord("z-silent", at(1n)))
        unit.agents.put(agentRecord("stale", at(400_000_000n)))
      })
      const since = Instant.minus(now, deadAfter)
      const silent = yield* replica.storage.staleAgents(since, 500)
      assert.deepStrictEqual(
        silent.map((id): string => id),
        ["silent", "z-silent"],
      )
      const { agents_offline, agents_online } = yield* replica.storage.counts(Instant.minus(now, staleAfter))
      assert.deepStrictEqual([agents_online, agents_offline], [0, names.length + 3])
    }),
  )
}
