import { move, stateTable } from "@tocsin/contract/TransitionTable"
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

type ReportCounts = Readonly<Record<Exclude<ReportState, "absent">, number>>

/** The results of an agent inside a program that the server has not taken: bounded, in memory. */
export class MemoryQueue implements ResultQueue {
  readonly #tail = new MemoryTail()
  readonly #limit: number
  readonly #newId: (millis: number) => string
  /** The state of each report that waits. */
  readonly #states = new Map<string, "queued" | "in_flight">()
  readonly #counts = { queued: 0, in_flight: 0, delivered: 0, rejected: 0, dropped: 0 }
  /** Waiting reports that differ from the one before. */
  readonly #changes = new Set<string>()
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
    const { superseded, dropped } = this.#tail.add({ report, id, at, isServerTime }, this.#limit)
    this.#states.set(id, move(ReportTransitions, "absent", "reported"))
    this.#counts.queued += 1
    const outcome = `${report.status} ${report.exitCode}`
    if (this.#lastOutcomes.get(report.checkId) !== outcome) this.#changes.add(id)
    this.#lastOutcomes.set(report.checkId, outcome)
    for (const one of superseded) this.#moveQueued(one, "superseded")
    if (dropped !== undefined) this.#moveQueued(dropped.id, "crowded out")
    return id
  }

  size(): number {
    return this.#tail.size
  }

  hasChange(): boolean {
    return this.#isHurried || this.#changes.size > 0
  }

  take(limit: number, maxBytes: number): ReadonlyArray<OutgoingResult> {
    const found = this.#tail.take(limit, this.#lastSent)
    const taken = fitting(found, maxBytes)
    this.#tail.putBack(found.slice(taken.length))
    for (const { id } of taken) this.#moveQueued(id, "sent")
    return taken
  }

  acknowledge(results: ReadonlyArray<OutgoingResult>): void {
    for (const { id } of results) this.#moveInFlight(id, "taken")
    this.#tail.remove(new Set(results.map(({ id }) => id)))
  }

  reject(result: OutgoingResult): void {
    this.#moveInFlight(result.id, "refused")
    this.#tail.remove(new Set([result.id]))
  }

  putBack(results: ReadonlyArray<OutgoingResult>): void {
    for (const { id } of results) this.#moveInFlight(id, "put back")
    this.#tail.putBack(results)
  }

  /** A program starts without notes. */
  setNote(): void {}

  counts(): ReportCounts {
    return { ...this.#counts }
  }

  /** From now on repeats do not wait for others. */
  hurry(): void {
    this.#isHurried = true
  }

  /** Drops everything that waits. Returns how much that is. */
  giveUp(): number {
    const waiting = [...this.#states]
    for (const [id, state] of waiting) {
      if (state === "queued") this.#moveQueued(id, "given up")
      else this.#moveInFlight(id, "given up")
    }
    this.#tail.clear()
    return waiting.length
  }

  #moveQueued(id: string, trigger: "superseded" | "crowded out" | "sent" | "given up"): void {
    if (this.#states.get(id) !== "queued") return
    this.#become(id, "queued", move(ReportTransitions, "queued", trigger))
  }

  // An answer may arrive after the agent has given the report up.
  #moveInFlight(id: string, trigger: "taken" | "refused" | "put back" | "given up"): void {
    if (this.#states.get(id) !== "in_flight") return
    this.#become(id, "in_flight", move(ReportTransitions, "in_flight", trigger))
  }

  #become(id: string, from: "queued" | "in_flight", to: ReportState): void {
    this.#counts[from] -= 1
    if (to !== "absent") this.#counts[to] += 1
    if (to === "queued" || to === "in_flight") {
      this.#states.set(id, to)
      return
    }
    this.#states.delete(id)
    this.#changes.delete(id)
  }
}
