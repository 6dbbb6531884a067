import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { assert, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import * as fc from "fast-check"
import { Intake, type Place } from "../../src/request/Intake.ts"

/** The cost of a request besides its body. */
const REQUEST = 4_096
const LIMIT = 100_000

const message = (bytes: number): IncomingMessage => {
  const made = new IncomingMessage(new Socket())
  made.headers = { "content-length": String(bytes) }
  return made
}

interface Waiter {
  readonly bytes: number
  readonly place: Place
}

/** An intake beside what it should hold. Turns do not end here: they are of slow senders. */
class Model {
  readonly intake = new Intake({ bytes: LIMIT, turnMillis: 1e9 })
  readonly whole: Array<number> = []
  readonly inside: Array<Waiter> = []
  readonly waiting: Array<Waiter> = []
  readonly #admitted: Array<number> = []
  #entered = 0

  get held(): number {
    const bytes = [...this.whole, ...this.inside.map((each) => each.bytes)]
    return bytes.reduce((sum, each) => sum + each + REQUEST, 0)
  }

  #hasRoomFor(bytes: number): boolean {
    const isAlone = this.whole.length + this.inside.length === 0
    return isAlone || this.held + bytes + REQUEST <= LIMIT
  }

  takeWhole(bytes: number): void {
    const isTaken = this.waiting.length === 0 && this.held + bytes + REQUEST <= LIMIT
    assert.strictEqual(this.intake.takeWhole(bytes), isTaken)
    if (isTaken) this.whole.push(bytes)
  }

  enter(bytes: number): void {
    const number = this.#entered++
    const isInside = this.waiting.length === 0 && this.#hasRoomFor(bytes)
    const place = this.intake.enter(message(bytes), () => this.#admitted.push(number))
    ;(isInside ? this.inside : this.waiting).push({ bytes, place })
    this.check()
  }

  leaveWhole(at: number): void {
    const [bytes] = this.whole.splice(at % Math.max(1, this.whole.length), 1)
    if (bytes === undefined) return
    this.intake.leaveWhole(bytes)
    this.#admit()
  }

  /** Somebody inside or waiting leaves. */
  leave(from: Array<Waiter>, at: number): void {
    const [left] = from.splice(at % Math.max(1, from.length), 1)
    if (left === undefined) return
    this.intake.leave(left.place)
    // Repeated, as by an answer and then the end of its connection.
    this.intake.leave(left.place)
    this.#admit()
  }

  #admit(): void {
    for (;;) {
      const [next] = this.waiting
      if (next === undefined || !this.#hasRoomFor(next.bytes)) break
      this.waiting.shift()
      this.inside.push(next)
    }
    this.check()
  }

  check(): void {
    for (const { place } of this.inside) assert.isTrue(place.wasAdmitted)
    for (const { place } of this.waiting) assert.isFalse(place.wasAdmitted)
    assert.strictEqual(new Set(this.#admitted).size, this.#admitted.length)
    assert.deepStrictEqual(
      this.#admitted,
      this.#admitted.toSorted((a, b) => a - b),
      "in the order in which they came",
    )
  }
}

const size = fc.constantFrom(0, 100, 10_000, 30_000, LIMIT - REQUEST, 2 * LIMIT)
const step = fc.oneof(
  fc.record({ act: fc.constantFrom("takeWhole", "enter"), bytes: size }),
  fc.record({ act: fc.constantFrom("leaveWhole", "leaveInside", "leaveWaiting"), at: fc.nat({ max: 9 }) }),
)

it("room is held exactly by those inside, nobody overtakes those that wait, and all of it comes back", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const model = new Model()
      for (const made of steps) {
        if ("bytes" in made) {
          if (made.act === "enter") model.enter(made.bytes)
          else model.takeWhole(made.bytes)
        } else if (made.act === "leaveWhole") model.leaveWhole(made.at)
        else model.leave(made.act === "leaveInside" ? model.inside : model.waiting, made.at)
      }
      while (model.whole.length > 0) model.leaveWhole(0)
      while (model.inside.length + model.waiting.length > 0) {
        model.leave(model.inside, 0)
        if (model.inside.length === 0) model.leave(model.waiting, 0)
      }
      assert.isTrue(model.intake.takeWhole(LIMIT - REQUEST), "the whole room is there again")
    }),
    { numRuns: propertyRuns(300) },
  )
})

it("a request that waits keeps small ones out, so that they cannot starve it", () => {
  const intake = new Intake({ bytes: LIMIT, turnMillis: 1e9 })
  assert.isTrue(intake.takeWhole(50_000))
  let isAdmitted = false
  intake.enter(message(LIMIT - REQUEST), () => (isAdmitted = true))
  for (let count = 0; count < 100; count++) assert.isFalse(intake.takeWhole(0))
  assert.isFalse(isAdmitted)
  intake.leaveWhole(50_000)
  assert.isTrue(isAdmitted)
})

it("a request that leaves while it waits leaves its connection as it was", () => {
  const intake = new Intake({ bytes: LIMIT, turnMillis: 1e9 })
  const first = intake.enter(message(LIMIT - REQUEST), () => {})
  const waiting = message(1)
  const place = intake.enter(waiting, () => assert.fail("it has left"))
  assert.isTrue(waiting.socket.isPaused())
  intake.leave(place)
  assert.deepStrictEqual([waiting.socket.isPaused(), waiting.socket.listenerCount("resume")], [false, 0])
  intake.leave(first)
})
