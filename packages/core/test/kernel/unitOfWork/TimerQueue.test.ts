import { assert, describe, it } from "@effect/vitest"
import { TimerQueue } from "../../../src/kernel/unitOfWork/TimerQueue.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import * as fc from "fast-check"

const moment = (n: number) => Instant.fromMicros(BigInt(n))

/** Keys and moments are few, so that they repeat; a moment of 0 removes. */
const step = fc.record({
  key: fc.nat(8),
  at: fc.nat(6),
  read: fc.constantFrom("due", "take", "next"),
  until: fc.nat(7),
})

/** The same by sorting: by moment, and of one moment by key or in the order in which they were set. */
class Model {
  readonly #isByKey: boolean
  readonly #set: Array<{ readonly key: number; readonly at: number }> = []

  constructor(isByKey: boolean) {
    this.#isByKey = isByKey
  }

  set(key: number, at: number): void {
    const index = this.#set.findIndex((entry) => entry.key === key)
    if (this.#set[index]?.at === at) return
    if (index >= 0) this.#set.splice(index, 1)
    if (at !== 0) this.#set.push({ key, at })
  }

  due(until: number) {
    const byKey = (a: number, b: number) => (this.#isByKey ? a - b : 0)
    return this.#set.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at || byKey(a.key, b.key))
  }

  nextAfter(after: number) {
    return this.#set.filter(({ at }) => at > after).toSorted((a, b) => a.at - b.at)[0]?.at
  }
}

describe("an agenda", () => {
  it("reads keys by moment, as a sorted list does, and keeps those that are not taken", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, isByKey) => {
        const agenda = new TimerQueue<number>(isByKey ? String : undefined)
        const model = new Model(isByKey)
        for (const { at, key, read, until } of steps) {
          agenda.set(key, at === 0 ? undefined : moment(at))
          model.set(key, at)
          const due = model.due(until).map((entry) => entry.key)
          if (read === "due") {
            const found = (limit: number) => agenda.due(moment(until), limit, (one) => one)
            assert.deepStrictEqual(found(Infinity), due)
            assert.deepStrictEqual(found(1), due.slice(0, 1))
          } else if (read === "take") {
            assert.deepStrictEqual(agenda.take(moment(until)), due)
            for (const taken of due) model.set(taken, 0)
          } else {
            const next = model.nextAfter(until)
            assert.strictEqual(agenda.nextAfter(moment(until)), next === undefined ? undefined : moment(next))
          }
        }
      }),
    )
  })
})
