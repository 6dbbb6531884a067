import type { SentFamily } from "@tocsin/adapter-http/metrics/siblings"
import type { Distribution } from "@tocsin/core/engine/metrics/Metric"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import * as fc from "fast-check"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import type { ToWorker } from "../../src/workers/messages.ts"
import { MetricsQuestions } from "../../src/workers/MetricsQuestions.ts"

const LONGER_THAN_THE_LIMIT_MILLIS = 2_001
const NUMBERS = [1, 2, 3]

/** What happens to one worker, or to all for `time passes`. */
type Chance =
  | { readonly chance: "counts"; readonly worker: number; readonly amount: number }
  | {
      readonly chance: "reports" | "asks" | "answers" | "ends" | "is replaced" | "time passes"
      readonly worker: number
    }

const worker = fc.constantFrom(...NUMBERS)

const chances = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        chance: fc.constant("counts" as const),
        worker,
        // Sums of such numbers depend on their order, by rounding.
        amount: fc.constantFrom(1, 0.1, 0.7, 1e-9, 1e9),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({ chance: fc.constantFrom("reports" as const, "asks", "answers"), worker }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        chance: fc.constantFrom("ends" as const, "is replaced", "time passes"),
        worker,
      }),
    },
  ),
  // Long enough for several processes of one number.
  { minLength: 40, maxLength: 120 },
)

/** A worker's process. */
class Process {
  requests = 0
  seconds = 0
  /** Questions that it has not answered yet. */
  readonly open: Array<number> = []
  /** Different in each process. */
  readonly memory: number

  constructor(memory: number) {
    this.memory = memory
  }

  count(amount: number): void {
    this.requests += 1
    this.seconds += amount
  }

  get families(): ReadonlyArray<SentFamily> {
    return [
      { name: "requests_total", type: "counter", readings: [{ labels: ["200"], value: this.requests }] },
      {
        name: "duration_seconds",
        type: "histogram",
        readings: [{ labels: [], value: { counts: [this.requests, 0], sum: this.seconds } }],
      },
      { name: "memory_bytes", type: "gauge", readings: [{ labels: [], value: this.memory }] },
    ]
  }
}

/** The counts in an answer. */
interface Counts {
  readonly requests: number
  readonly seconds: number
}

/** Workers and the process that starts them, with messages that arrive immediately. */
class Machine {
  readonly living = new Map<number, Process>()
  readonly #questions = new MetricsQuestions((to, message) => this.#told(to, message))
  /** The requests that each process, also an ended one, last sent. */
  readonly #sent = new Map<Process, number>()
  #last: Counts = { requests: 0, seconds: 0 }
  answers = 0
  #started = 0

  constructor() {
    for (const number of NUMBERS) this.#start(number)
  }

  take(chance: Chance): void {
    const process = this.living.get(chance.worker)
    if (chance.chance === "time passes") return void vi.advanceTimersByTime(LONGER_THAN_THE_LIMIT_MILLIS)
    if (process === undefined) {
      if (chance.chance === "is replaced") this.#start(chance.worker)
      return
    }
    switch (chance.chance) {
      case "counts":
        return process.count(chance.amount)
      case "reports":
        this.#sent.set(process, process.requests)
        return this.#questions.reported(chance.worker, process.families)
      case "asks": {
        this.#sent.set(process, process.requests)
        const others = Array.from(this.living.keys()).filter((number) => number !== chance.worker)
        return this.#questions.asked({
          from: chance.worker,
          question: this.answers,
          families: process.families,
          others,
        })
      }
      case "answers": {
        const question = process.open.shift()
        if (question === undefined) return
        this.#sent.set(process, process.requests)
        return this.#questions.answered(chance.worker, question, process.families)
      }
      case "ends":
        this.living.delete(chance.worker)
        return this.#questions.left(chance.worker)
      case "is replaced":
    }
  }

  #told(to: number, message: ToWorker): void {
    if (message.type === "asks_metrics") return void this.living.get(to)?.open.push(message.question)
    this.answers += 1
    const of = (name: string) => message.counts.find((family) => family.name === name)?.readings[0]?.value
    const requests = of("requests_total") as number
    const { counts, sum: seconds } = of("duration_seconds") as Distribution
    const sent = Array.from(this.#sent.values()).reduce((sum, count) => sum + count, 0)
    assert.deepStrictEqual([requests, counts], [sent, [sent, 0]], "all that any process has sent, once")
    assert.isAtLeast(seconds, this.#last.seconds, "not even by rounding does a sum fall")
    assert.isAtLeast(requests, this.#last.requests, "a count never falls")
    this.#last = { requests, seconds }
    const others = Array.from(this.living, ([number, { memory }]) => (number === to ? undefined : memory))
    for (const families of message.gaugesOfOthers) {
      assert.deepStrictEqual(
        families.map(({ name }) => name),
        ["memory_bytes"],
      )
      assert.include(others, families[0]?.readings[0]?.value, "a gauge of another process that lives")
    }
  }

  #start(number: number): void {
    this.#started += 1
    this.living.set(number, new Process(this.#started))
  }
}

describe("the metrics of all workers", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("have counts that never fall, whatever workers do, and gauges of those that live", () => {
    let answers = 0
    const runs = propertyRuns(300)
    fc.assert(
      fc.property(chances, (story) => {
        const machine = new Machine()
        for (const chance of story) machine.take(chance)
        vi.advanceTimersByTime(LONGER_THAN_THE_LIMIT_MILLIS)
        answers += machine.answers
      }),
      { numRuns: runs },
    )
    assert.isAbove(answers, 2 * runs)
  })

  it("keep what an ended worker last reported, and drop its gauges", () => {
    const told: Array<ToWorker> = []
    const questions = new MetricsQuestions((_, message) => told.push(message))
    const [first, second, replacement] = [new Process(10), new Process(20), new Process(30)]
    for (const process of [first, second]) process.count(0.5)
    questions.reported(2, second.families)
    // Unreported: lost when the process is killed.
    second.count(0.5)
    questions.left(2)
    questions.asked({ from: 1, question: 0, families: first.families, others: [] })
    replacement.count(0.5)
    questions.asked({ from: 1, question: 1, families: first.families, others: [2] })
    questions.answered(2, 1, replacement.families)
    assert.deepStrictEqual(
      told.flatMap((message) => (message.type === "metrics" ? [message] : [])),
      [
        { type: "metrics", question: 0, counts: counted(2, 1), gaugesOfOthers: [] },
        { type: "metrics", question: 1, counts: counted(3, 1.5), gaugesOfOthers: [memoryOf(30)] },
      ],
    )
  })
})

const counted = (requests: number, seconds: number): ReadonlyArray<SentFamily> => [
  { name: "requests_total", type: "counter", readings: [{ labels: ["200"], value: requests }] },
  {
    name: "duration_seconds",
    type: "histogram",
    readings: [{ labels: [], value: { counts: [requests, 0], sum: seconds } }],
  },
]

const memoryOf = (value: number): ReadonlyArray<SentFamily> => [
  { name: "memory_bytes", type: "gauge", readings: [{ labels: [], value }] },
]
