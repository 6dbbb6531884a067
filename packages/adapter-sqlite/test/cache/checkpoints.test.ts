import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/Identifiers"
import { CurrentInstruments, Instruments } from "@tocsin/core/engine/metrics/Instruments"
import { metricDefinitions } from "@tocsin/core/engine/metrics/metricDefinitions"
import type { Command } from "@tocsin/core/unitOfWork/Decision"
import { load } from "@tocsin/core/unitOfWork/load"
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
      for (let n = 0; n < 300; n++) yield* transact(storage, addOne)
      assert.isAbove(beginnings(file) - before, 2)
      const [source = assert.fail("no metrics")] = instruments.sources
      const lookups = (yield* source).find(({ definition }) => definition === metricDefinitions.cacheLookups)
      assert.deepStrictEqual(
        lookups?.readings.map(({ value }) => value),
        [300, 0],
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
      const add = (storage: typeof one, times: number) =>
        Effect.forEach(Array.from({ length: times }), () => transact(storage, addOne), { discard: true })
      yield* Effect.all([add(one, 500), add(other, 500)], { concurrency: 2 })
      assert.isAbove(beginnings(file) - before, 5)
      assert.strictEqual(yield* transact(one, addOne), 1_001)
    }),
  )
})
