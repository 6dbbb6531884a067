import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { assertSame } from "../assertSame.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "../forAll.ts"
import { observe, rowOf } from "../observe.ts"
import { write } from "../records.ts"
import { openReplica, type Replica } from "../Replica.ts"
import { rowsOf } from "../rowsOf.ts"
import type { StorageUnderTest } from "../StorageUnderTest.ts"
import * as arbitrary from "./agentRecords.ts"
import { transact } from "../transact.ts"
import type { StoredHistoryRecord } from "@tocsin/core/heart/model/CheckRecord"

const RUNS = 40

const twice = <A>(rows: fc.Arbitrary<A>) => fc.tuple(rows, rows)

const withoutSeq = ({ seq: _seq, ...row }: StoredHistoryRecord) => row

/** Every read returns the latest write of an agent. */
const agentRoundTrip = (replica: Replica) =>
  forAll(twice(arbitrary.agentRecord), { runs: RUNS }, ([first, { agent_id: _, ...changes }]) =>
    Effect.gen(function* () {
      const { agent_id } = first
      for (const agent of [first, { ...first, ...changes }]) {
        yield* write(replica, [{ agents: [agent_id] }], (unit) => unit.putAgent(agent))
        assertSame(yield* replica.storage.agent(agent_id), agent)
        assertSame(yield* rowsOf(replica, "agents"), [agent])
        assertSame(
          yield* observe(replica, [{ agents: [agent_id] }], ({ agents }) => agents.get(agent_id)),
          agent,
        )
      }
      yield* write(replica, [{ agents: [agent_id] }], (unit) => unit.agents.delete(agent_id))
      assertSame(yield* replica.storage.agent(agent_id), undefined)
    }),
  )

const keyRoundTrip = (replica: Replica) =>
  forAll(twice(arbitrary.keyRecord), { runs: RUNS }, ([first, second]) =>
    Effect.gen(function* () {
      const { key_hash } = first
      for (const key of [first, { ...second, key_hash }]) {
        yield* write(replica, [{ rows: { agent_key: [key_hash] } }], ({ keys }) => keys.put(key))
        assertSame(yield* rowOf(replica, "agent_key", key_hash), key)
        assertSame(yield* rowsOf(replica, "blacklist"), key.state === "blocked" ? [key] : [])
      }
      yield* write(replica, [{ rows: { agent_key: [key_hash] } }], ({ keys }) => keys.delete(key_hash))
      assertSame(yield* rowOf(replica, "agent_key", key_hash), undefined)
    }),
  )

const checkRoundTrip = (replica: Replica) =>
  forAll(
    fc.tuple(arbitrary.agentRecord, twice(arbitrary.checkRecord)),
    { runs: RUNS },
    ([agent, [first, second]]) =>
      Effect.gen(function* () {
        const { agent_id, registration_id } = agent
        const { check_id } = first
        yield* write(replica, [{ agents: [agent_id] }], (unit) => unit.putAgent(agent))
        const rowRequest = { agents: [agent_id], checks: { agent_id, check_ids: [check_id] } }
        for (const row of [first, second]) {
          const check = { ...row, agent_id, registration_id, check_id }
          yield* write(replica, [rowRequest], ({ checks }) => checks.put(check))
          assertSame(yield* observe(replica, [rowRequest], ({ checks }) => checks.get(check)), check)
          assertSame(yield* replica.storage.check(agent_id, check_id), check)
          assertSame(yield* rowsOf(replica, "checks"), [check])
        }
        yield* transact(replica.storage, function* (unit) {
          yield { agents: [agent_id] }
          unit.removeAgent(agent)
        })
        assertSame(yield* rowsOf(replica, "checks"), [])
      }),
  )

const historyRoundTrip = (replica: Replica) =>
  forAll(fc.tuple(arbitrary.agentRecord, twice(arbitrary.historyRecord)), { runs: RUNS }, ([agent, rows]) =>
    Effect.gen(function* () {
      const { agent_id, registration_id } = agent
      const stored = rows.map((row) => ({ ...row, agent_id, registration_id }))
      yield* transact(replica.storage, function* (unit) {
        yield { agents: [agent_id] }
        unit.putAgent(agent)
        for (const row of stored) unit.store(row)
      })
      const found = yield* rowsOf(replica, "history")
      assertSame(found.map(withoutSeq), stored.toReversed())
      yield* transact(replica.storage, function* (unit) {
        yield { agents: [agent_id] }
        unit.removeAgent(agent)
      })
    }),
  )

/**
 * Every row that a decision puts is read back the same: every field of agents, keys, checks and
 * history, over its whole range.
 */
export const agentRowSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const cases = {
    agents: agentRoundTrip,
    "agent keys": keyRoundTrip,
    checks: checkRoundTrip,
    history: historyRoundTrip,
  }
  describe("rows of agents are read as they were written", () => {
    for (const [name, roundTrip] of Object.entries(cases)) {
      it.effect(name, () => Effect.flatMap(openReplica(subject), roundTrip), PROPERTY_TIMEOUT_MILLIS)
    }
  })
}
