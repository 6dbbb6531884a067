import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { CurrentInstruments, Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { storageMetrics } from "@tocsin/core/kernel/engine/metrics/storageMetrics"
import { type Command, load } from "@tocsin/core/kernel/unitOfWork/Decision"
import { agentRecord } from "@tocsin/testing/records"
import { transact } from "@tocsin/testing/transact"
import { Effect } from "effect"
import { beginnings } from "../log/logInspection.ts"
import { openStorage, putAgent, scratchFile } from "../ScratchFile.ts"

const name = AgentId.make("web-1")
const log = { checkpointPages: 20 }

/** Adds one to a number in an agent's row. */
const addOne: Command<number> = function* (unit) {
  yield* load(unit, { agents: [name] })
  const next = (unit.agents.get(name)?.checks_ok ?? 0) + 1
  unit.agents.put(agentRecord(name, { checks_ok: next }))
  return next
}

describe("cached rows, while checkpoints start the log over", () => {
  it.effect("stay where no other process writes", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const instruments = new Instruments()
      const open = Effect.provideService(openStorage(file, { log }), CurrentInstruments, instruments)
      const storage = yield* open
      const before = beginnings(file)
      yield* transact(storage, putAgent(name))
      let added = 0
      // A checkpoint runs on another thread, which a busy machine starts late.
      for (; beginnings(file) - before <= 2; added++) yield* transact(storage, addOne)
      const [source = assert.fail("no metrics")] = instruments.sources
      const lookups = (yield* source).find(({ definition }) => definition === storageMetrics.cacheLookups)
      assert.deepStrictEqual(
        lookups?.readings.map(({ value }) => value),
        [added, 0],
      )
    }),
  )

  it.effect("are read again when another process wrote, at whatever moment", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const one = yield* openStorage(file, { log })
      const other = yield* openStorage(file, { log })
      const before = beginnings(file)
      yield* transact(one, putAgent(name, { checks_ok: 0 }))
      let added = 0
      const add = Effect.fnUntraced(function* (storage: typeof one) {
        for (let n = 0; n < 500 || beginnings(file) - before <= 5; n++, added++)
          yield* transact(storage, addOne)
      })
      yield* Effect.all([add(one), add(other)], { concurrency: 2 })
      assert.strictEqual(yield* transact(one, addOne), added + 1)
    }),
  )
})
