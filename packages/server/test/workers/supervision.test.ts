import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  supervise,
  type Supervision,
  unstarted,
  type WorkerAction,
  type WorkerEvent,
} from "../../src/workers/supervision.ts"

/** What may happen next, as a choice among the processes that live. */
type Chance =
  | { readonly chance: "listens" | "falls silent" | "waited"; readonly which: number }
  | { readonly chance: "ends"; readonly which: number; readonly code: number }
  | { readonly chance: "stop" | "reload" }

const chances = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ chance: fc.constant("listens" as const), which: fc.nat(7) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        chance: fc.constant("ends" as const),
        which: fc.nat(7),
        code: fc.constantFrom(0, 1),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        chance: fc.constantFrom("falls silent" as const, "waited" as const),
        which: fc.nat(7),
      }),
    },
    { weight: 1, arbitrary: fc.record({ chance: fc.constantFrom("stop" as const, "reload" as const) }) },
  ),
  { maxLength: 60 },
)

/** A machine that carries out what is decided, as `superviseWorkers` does. */
class Machine {
  supervision: Supervision
  readonly living = new Set<number>()
  readonly waits: Array<{ readonly worker: number; readonly millis: number }> = []
  readonly done: Array<WorkerAction> = []
  /** Processes that were told to stop. */
  readonly told = new Set<number>()

  constructor(size: number) {
    this.supervision = unstarted(size)
    this.happened({ event: "started" })
  }

  get endings(): ReadonlyArray<WorkerAction> {
    return this.done.filter(({ action }) => action === "end")
  }

  happened(event: WorkerEvent): void {
    const { actions, supervision } = supervise(this.supervision, event)
    this.supervision = supervision
    for (const action of actions) {
      assert.deepStrictEqual(this.endings, [], "nothing is done after the end")
      this.done.push(action)
      if (action.action === "fork") {
        assert.isFalse(this.living.has(action.worker), "a number has one process")
        assert.isFalse(supervision.isStopping, "nothing starts while the service stops")
        this.living.add(action.worker)
      }
      if (action.action === "wait") this.waits.push(action)
      if (action.action === "signal") {
        assert.isTrue(this.living.has(action.worker), "only living processes get signals")
        if (action.signal === "SIGTERM") this.told.add(action.worker)
      }
      if (action.action === "end") assert.strictEqual(this.living.size, 0, "no process is left behind")
    }
  }

  end(worker: number, code: number, problem?: string): void {
    this.living.delete(worker)
    this.told.delete(worker)
    this.happened({ event: "ended", worker, code, signal: undefined, problem })
  }

  take(chance: Chance): void {
    const processes = Array.from(this.living)
    switch (chance.chance) {
      case "stop":
        return this.happened({ event: "stop_requested", signal: "SIGTERM" })
      case "reload":
        return this.happened({ event: "reload_requested" })
      case "waited": {
        const [wait] = this.waits.splice(chance.which % Math.max(1, this.waits.length), 1)
        return wait && this.happened({ event: "waited", worker: wait.worker })
      }
      default: {
        const worker = processes[chance.which % Math.max(1, processes.length)]
        if (worker === undefined) return
        if (chance.chance === "ends") return this.end(worker, chance.code)
        const event = chance.chance === "listens" ? "listens" : "fell_silent"
        return this.happened({ event, worker })
      }
    }
  }
}

describe("the supervision of workers", () => {
  it("keeps one process for each number, and ends once and last, whatever happens", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 5 }), chances, (size, story) => {
        const machine = new Machine(size)
        for (const chance of story) {
          if (machine.endings.length > 0) return
          machine.take(chance)
          const { hasListened, isStopping, workers } = machine.supervision
          if (isStopping)
            assert.deepStrictEqual(Array.from(machine.told).toSorted(), Array.from(machine.living).toSorted())
          else if (hasListened) {
            const waiting = new Set(machine.waits.map(({ worker }) => worker))
            const numbers = Array.from({ length: size }, (_, index) => index + 1)
            assert.isTrue(numbers.every((n) => machine.living.has(n) !== waiting.has(n)))
            assert.strictEqual(workers.size, size)
          }
        }
        if (machine.endings.length > 0) return
        machine.take({ chance: "stop" })
        for (const worker of Array.from(machine.living)) machine.end(worker, 0)
        assert.strictEqual(machine.endings.length, 1)
      }),
    )
  })

  it("waits longer after each end before a worker listens, up to 30 s", () => {
    const machine = new Machine(2)
    machine.happened({ event: "listens", worker: 1 })
    for (let time = 0; time < 7; time++) {
      machine.end(2, 1)
      machine.happened({ event: "waited", worker: 2 })
    }
    assert.deepStrictEqual(
      machine.waits.map(({ millis }) => millis),
      [2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000],
    )
    machine.happened({ event: "listens", worker: 2 })
    machine.end(2, 1)
    assert.strictEqual(machine.waits.at(-1)?.millis, 1_000)
  })

  it("ends with the first worker that cannot start, and announces a start once", () => {
    const failing = new Machine(3)
    failing.end(1, 1)
    assert.deepStrictEqual(failing.done.at(-1), { action: "end", code: 1 })
    const machine = new Machine(3)
    for (const worker of [1, 2, 3]) machine.happened({ event: "listens", worker })
    machine.end(2, 1)
    machine.happened({ event: "waited", worker: 2 })
    machine.happened({ event: "listens", worker: 2 })
    assert.strictEqual(machine.done.filter(({ action }) => action === "announce").length, 1)
  })

  it("ends well if it is asked to stop before the first worker listens", () => {
    const machine = new Machine(2)
    machine.take({ chance: "stop" })
    machine.end(1, 0)
    assert.deepStrictEqual(machine.done.at(-1), { action: "end", code: 0 })
  })

  it("passes on why a worker ended: with its end, or as the service's own before its start and at its stop", () => {
    const said = (machine: Machine) =>
      machine.done.flatMap((done) => (done.action === "report" || done.action === "complain" ? [done] : []))
    const machine = new Machine(2)
    machine.happened({ event: "listens", worker: 1 })
    machine.end(2, 1, "the policy file is not valid")
    assert.deepStrictEqual(said(machine), [
      { action: "report", worker: 2, code: 1, signal: undefined, problem: "the policy file is not valid" },
    ])
    machine.take({ chance: "stop" })
    machine.end(1, 1, "it did not shut down in time")
    assert.deepStrictEqual(said(machine).at(-1), {
      action: "complain",
      problem: "it did not shut down in time",
    })
    const failing = new Machine(2)
    failing.end(1, 1, "the port is taken")
    assert.deepStrictEqual(said(failing), [{ action: "complain", problem: "the port is taken" }])
    assert.deepStrictEqual(failing.done.at(-1), { action: "end", code: 1 })
  })

  it("has workers that start read everything again once they listen, since a signal would end them", () => {
    const machine = new Machine(2)
    const hangups = () =>
      machine.done.flatMap((done) =>
        done.action === "signal" && done.signal === "SIGHUP" ? [done.worker] : [],
      )
    machine.take({ chance: "reload" })
    assert.deepStrictEqual(hangups(), [])
    machine.happened({ event: "listens", worker: 1 })
    assert.deepStrictEqual(hangups(), [1])
    machine.take({ chance: "reload" })
    machine.happened({ event: "listens", worker: 2 })
    assert.deepStrictEqual(hangups(), [1, 1, 2])
    machine.end(2, 1)
    machine.happened({ event: "waited", worker: 2 })
    machine.happened({ event: "listens", worker: 2 })
    assert.deepStrictEqual(hangups(), [1, 1, 2])
  })

  it("kills a worker that fell silent, but none that stops", () => {
    const machine = new Machine(2)
    machine.happened({ event: "listens", worker: 1 })
    machine.happened({ event: "fell_silent", worker: 1 })
    machine.take({ chance: "stop" })
    machine.happened({ event: "fell_silent", worker: 1 })
    const kills = machine.done.filter((done) => done.action === "signal" && done.signal === "SIGKILL")
    assert.deepStrictEqual(kills, [{ action: "signal", worker: 1, signal: "SIGKILL" }])
  })
})
