import { move, stateTable } from "@tocsin/contract/formats/TransitionTable"
import { type CheckReport, newEventId } from "../agent/CheckReport.ts"
import {
  type CheckState,
  fitting,
  MemoryTail,
  type OutgoingResult,
  type ResultQueue,
} from "../agent/ResultQueue.ts"

/** The moves of a report of an agent inside a program. The server's answer decides most of them. */
export const ReportTransitions = stateTable({
  absent: {
    "reported -> queued": "the agent is open | it gets its event ID, which it keeps",
  },
  queued: {
    "superseded -> absent":
      "it repeats the result before it, and a new one repeats it | none: the server stores only changes",
    "crowded out -> dropped":
      "more than 1,000 wait, and it is the oldest repeat, or the oldest where none is one | counted",
    "sent -> in_flight":
      "the key is accepted or unknown, and the report is among the oldest that fit in a batch | its time is fixed",
    "given up -> dropped": "the agent closes, and 5 s have passed or the server takes nothing | counted",
  },
  in_flight: {
    "taken -> delivered": "202 | counted",
    "refused -> rejected": "400 or 413, and it is alone in its batch | counted and logged",
    "put back -> queued": "any other answer, or none",
    "given up -> dropped":
      "the agent closes, and 5 s have passed | counted, although the server may have taken it",
  },
})

type ReportState = (typeof ReportTransitions)[number]["to"]

/** As many as `tocsin-agent` keeps while its disk refuses them. */
const MOST_REPORTS = 1_000

/** Checks whose last results are remembered: of more, the first one counts as new when it reports again. */
const MOST_CHECKS = 10_000

const forgetFirst = (checks: Map<string, unknown>): void => {
  for (const check of checks.keys()) {
    if (checks.size <= MOST_CHECKS) return
    checks.delete(check)
  }
}

type ReportCounts = Readonly<Record<Exclude<ReportState, "absent">, number>>

/** The results of an agent inside a program that the server has not taken: bounded, in memory. */
export class MemoryQueue implements ResultQueue {
  /** Those that are queued or in flight. */
  readonly #tail = new MemoryTail()
  readonly #limit: number
  readonly #newId: (millis: number) => string
  readonly #ends = { delivered: 0, rejected: 0, dropped: 0 }
  readonly #lastOutcomes = new Map<string, string>()
  readonly #lastSent = new Map<string, CheckState>()
  #isHurried = false

  constructor(limit = MOST_REPORTS, newId: (millis: number) => string = newEventId) {
    this.#limit = limit
    this.#newId = newId
  }

  /** Takes a report that was observed at a time. Returns the id that it keeps. */
  add(report: CheckReport, at: number, isServerTime = false): string {
    const id = this.#newId(at)
    const outcome = `${report.status} ${report.exitCode}`
    const isChange = this.#lastOutcomes.get(report.checkId) !== outcome
    this.#lastOutcomes.delete(report.checkId)
    this.#lastOutcomes.set(report.checkId, outcome)
    forgetFirst(this.#lastOutcomes)
    const dropped = this.#tail.add({ report, id, at, isServerTime, isChange }, this.#limit)
    if (dropped !== undefined) this.#ends[move(ReportTransitions, "queued", "crowded out")] += 1
    return id
  }

  size(): number {
    return this.#tail.size
  }

  hasChange(): boolean {
    return this.#isHurried || this.#tail.all().some(({ isChange }) => isChange)
  }

  take(limit: number, maxBytes: number): ReadonlyArray<OutgoingResult> {
    const found = this.#tail.take(limit, this.#lastSent)
    forgetFirst(this.#lastSent)
    const taken = fitting(found, maxBytes)
    this.#tail.putBack(found.slice(taken.length))
    return taken
  }

  acknowledge(results: ReadonlyArray<OutgoingResult>): void {
    this.#end(results, move(ReportTransitions, "in_flight", "taken"))
  }

  reject(result: OutgoingResult): void {
    this.#end([result], move(ReportTransitions, "in_flight", "refused"))
  }

  putBack(results: ReadonlyArray<OutgoingResult>): void {
    this.#tail.putBack(results)
  }

  /** A program starts without notes. */
  setNote(): void {}

  counts(): ReportCounts {
    const inFlight = this.#tail.inFlight
    return { queued: this.#tail.size - inFlight, in_flight: inFlight, ...this.#ends }
  }

  /** From now on repeats do not wait for others. */
  hurry(): void {
    this.#isHurried = true
  }

  /** Drops everything that waits. Returns how much that is. */
  giveUp(): number {
    const waiting = this.#tail.size
    this.#tail.clear()
    this.#ends[move(ReportTransitions, "in_flight", "given up")] += waiting
    return waiting
  }

  // An answer may arrive after the agent has given the report up.
  #end(results: ReadonlyArray<OutgoingResult>, end: "delivered" | "rejected"): void {
    this.#ends[end] += this.#tail.remove(new Set(results.map(({ id }) => id)))
  }
}
