import type { SentFamily } from "@tocsin/adapter-http/metrics/siblings"
import type { ToWorker } from "./messages.ts"

interface Question {
  readonly from: number
  /** As the asking worker counts them. */
  readonly question: number
  readonly awaited: Set<number>
  readonly answers: Array<ReadonlyArray<SentFamily>>
}

/** Less than the asking worker waits. */
const LIMIT_MILLIS = 2_000

/**
 * Passes a worker's question for the metrics of the others on, and back the answers: once all that live
 * have answered, or those that came in time.
 */
export class MetricsQuestions {
  readonly #tell: (worker: number, message: ToWorker) => void
  readonly #open = new Map<number, Question>()
  #asked = 0

  constructor(tell: (worker: number, message: ToWorker) => void) {
    this.#tell = tell
  }

  asked(from: number, question: number, others: ReadonlyArray<number>): void {
    const number = this.#asked++
    const asked = { from, question, awaited: new Set(others), answers: [] }
    this.#open.set(number, asked)
    for (const worker of others) this.#tell(worker, { type: "asks_metrics", question: number })
    if (others.length > 0) setTimeout(() => this.#close(number, asked), LIMIT_MILLIS).unref()
    else this.#close(number, asked)
  }

  answered(worker: number, number: number, families: ReadonlyArray<SentFamily>): void {
    const asked = this.#open.get(number)
    if (asked?.awaited.delete(worker) !== true) return
    asked.answers.push(families)
    if (asked.awaited.size === 0) this.#close(number, asked)
  }

  /** A worker that has ended answers nothing, and needs no answer. */
  left(worker: number): void {
    for (const [number, asked] of this.#open) {
      asked.awaited.delete(worker)
      if (asked.from === worker) this.#open.delete(number)
      else if (asked.awaited.size === 0) this.#close(number, asked)
    }
  }

  #close(number: number, { answers, from, question }: Question): void {
    if (this.#open.delete(number)) this.#tell(from, { type: "metrics", question, ofOthers: answers })
  }
}
