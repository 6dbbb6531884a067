import type { SentFamily } from "@tocsin/adapter-http/metrics/siblings"
import type { ToWorker } from "./messages.ts"
import { WorkerCounts } from "./WorkerCounts.ts"

/** A worker asks for the metrics of all. */
interface Asking {
  readonly from: number
  /** As the asking worker counts them. */
  readonly question: number
  /** Its own metrics. */
  readonly families: ReadonlyArray<SentFamily>
  /** The other workers that serve. */
  readonly others: ReadonlyArray<number>
}

interface Question {
  readonly from: number
  readonly question: number
  readonly awaited: Set<number>
  /** Of the workers that have answered. */
  readonly gauges: Map<number, ReadonlyArray<SentFamily>>
}

/** Less than the asking worker waits. */
const LIMIT_MILLIS = 2_000

const gaugesIn = (families: ReadonlyArray<SentFamily>): ReadonlyArray<SentFamily> =>
  families.filter(({ type }) => type === "gauge")

/**
 * Answers a worker's question for the metrics of all, once all others that serve have answered, or after
 * a limit. Counts are those of every worker that has ever been, as last reported. Gauges are those of the
 * others that answered in time.
 */
export class MetricsQuestions {
  readonly #tell: (worker: number, message: ToWorker) => void
  readonly #counts = new WorkerCounts()
  readonly #open = new Map<number, Question>()
  #asked = 0

  constructor(tell: (worker: number, message: ToWorker) => void) {
    this.#tell = tell
  }

  asked({ families, from, others, question }: Asking): void {
    this.#counts.report(from, families)
    const number = this.#asked++
    const asked = { from, question, awaited: new Set(others), gauges: new Map() }
    this.#open.set(number, asked)
    for (const worker of others) this.#tell(worker, { type: "asks_metrics", question: number })
    if (others.length > 0) setTimeout(() => this.#close(number, asked), LIMIT_MILLIS).unref()
    else this.#close(number, asked)
  }

  answered(worker: number, number: number, families: ReadonlyArray<SentFamily>): void {
    this.#counts.report(worker, families)
    const asked = this.#open.get(number)
    if (asked?.awaited.delete(worker) !== true) return
    asked.gauges.set(worker, gaugesIn(families))
    if (asked.awaited.size === 0) this.#close(number, asked)
  }

  /** A worker reports without a question, so that less is lost if it is killed. */
  reported(worker: number, families: ReadonlyArray<SentFamily>): void {
    this.#counts.report(worker, families)
  }

  /** A worker that has ended answers nothing, and needs no answer. */
  left(worker: number): void {
    this.#counts.ended(worker)
    for (const [number, asked] of this.#open) {
      asked.awaited.delete(worker)
      asked.gauges.delete(worker)
      if (asked.from === worker) this.#open.delete(number)
      else if (asked.awaited.size === 0) this.#close(number, asked)
    }
  }

  #close(number: number, { from, gauges, question }: Question): void {
    if (!this.#open.delete(number)) return
    const gaugesOfOthers = Array.from(gauges.values())
    this.#tell(from, { type: "metrics", question, counts: this.#counts.totals, gaugesOfOthers })
  }
}
