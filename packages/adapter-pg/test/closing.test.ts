import { assert, layer } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import { PATIENCE, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { agentRecord } from "@tocsin/testing/records"
import { transact } from "@tocsin/testing/transact"
import { Effect, Exit, Fiber, Scope } from "effect"
import { eventually } from "./client/eventually.ts"
import { openStorage } from "./openStorage.ts"
import { waitingForLocks } from "./waitingForLocks.ts"

const NAMES = ["a", "b", "c", "d"]
const WRITES = 120

/** Counts a write at one of the agents. */
const countAt = (name: string): Command<void> =>
  function* (unit) {
    const agent_id = AgentId.make(name)
    yield { agents: [agent_id] }
    const checks_ok = (unit.agents.get(agent_id)?.checks_ok ?? 0) + 1
    unit.putAgent(agentRecord(name, { checks_ok }))
  }

const setTo = (name: string, checks_ok: number): Command<void> =>
  function* (unit) {
    yield { agents: [AgentId.make(name)] }
    unit.putAgent(agentRecord(name, { checks_ok }))
  }

/** Writes behind a locked row, closes, and frees the row once so many statements wait for it: a group waits for a second, then each of its members alone. */
const writesAndCloses = Effect.fnUntraced(function* (waiting: number) {
  const scratch = yield* ScratchPostgres
  const [holder, observer] = [yield* scratch.replica(), yield* scratch.replica()]
  const scope = yield* Scope.make()
  const storage = yield* Scope.provide(openStorage({ url: scratch.url, ...PATIENCE }), scope)
  yield* Effect.forEach(NAMES, (name) => transact(storage, setTo(name, 1)))
  const { closing, writes } = yield* holder.sql.withTransaction(
    Effect.gen(function* () {
      yield* holder.sql`SELECT 1 FROM agent WHERE agent_id = 'a' FOR UPDATE`
      const begun = yield* Effect.forEach(Array.from({ length: WRITES }), (_, n) =>
        // The storage has each one before it closes, however busy the machine is.
        Effect.forkChild(transact(storage, countAt(NAMES[n % NAMES.length] ?? "")), {
          startImmediately: true,
        }),
      )
      yield* eventually(Effect.map(waitingForLocks(observer), (count) => count > 0))
      const ended = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* eventually(
        Effect.map(Effect.exit(transact(storage, countAt("e"))), (exit) => Exit.isFailure(exit)),
      )
      yield* eventually(Effect.map(waitingForLocks(observer), (count) => count >= waiting))
      return { closing: ended, writes: begun }
    }),
  )
  yield* Fiber.joinAll(writes)
  yield* Fiber.join(closing)
  const stored = yield* observer.sql<{ agent_id: string; checks_ok: number }>`
    SELECT agent_id, checks_ok::int4 FROM agent WHERE agent_id <> 'e' ORDER BY agent_id`
  assert.deepStrictEqual(
    stored.map(({ agent_id, checks_ok }) => [agent_id, checks_ok]),
    NAMES.map((name) => [name, 1 + WRITES / NAMES.length]),
  )
})

layer(ScratchPostgres.layerMigrated)("a storage that closes under writes", (it) => {
  it.effect("finishes each one that it has, also those behind a locked row", () => writesAndCloses(1))

  it.effect("finishes those that run alone", () => writesAndCloses(4))
})
