import { type CheckReport, wireEvent } from "./CheckReport.ts"
import {
  type CheckState,
  isSameOutcome,
  isSuperseded,
  observedAfter,
  type OutgoingResult,
  type PendingResult,
} from "./ResultQueue.ts"

interface TailResult extends PendingResult {
  /** It was sent from memory once, so its time is fixed. */
  readonly isFixed: boolean
  readonly isInFlight: boolean
}

/**
 * Results in memory: those of an agent inside a program, and those that are not in a spool's file
 * yet. It never drops what is in flight, because the server may have taken it.
 */
export class MemoryTail {
  #results: Array<TailResult> = []

  get size(): number {
    return this.#results.length
  }

  all(): ReadonlyArray<PendingResult> {
    return this.#results
  }

  /**
   * Adds a result. Returns the repeats that it supersedes, and the result that is dropped beyond `limit`: the
   * first repeat, or else the oldest.
   */
  add(pending: PendingResult, limit: number) {
    const superseded = this.#supersededBy(pending)
    this.remove(new Set(superseded))
    this.#results.push({ ...pending, isFixed: false, isInFlight: false })
    if (this.#results.length <= limit) return { superseded, dropped: undefined }
    const repeat = this.#firstRepeat()
    const place = repeat >= 0 ? repeat : this.#results.findIndex(({ isInFlight }) => !isInFlight)
    const [dropped] = this.#results.splice(place, 1)
    return { superseded, dropped: dropped && { id: dropped.id, isChange: repeat < 0 } }
  }

  /** Fixes the times of the first results and returns them with their bodies. */
  take(limit: number, states: Map<string, CheckState>): ReadonlyArray<OutgoingResult> {
    const taken = this.#results.slice(0, limit).map((pending): TailResult => {
      const { report } = pending
      const before = pending.isFixed ? undefined : states.get(report.checkId)
      const observedAt = observedAfter(before, pending)
      states.set(report.checkId, { observedAt, status: report.status, exitCode: report.exitCode })
      return { ...pending, at: observedAt, isFixed: true, isInFlight: true }
    })
    this.#results.splice(0, taken.length, ...taken)
    return taken.map(({ id, report, at }) => ({
      id,
      checkId: report.checkId,
      body: JSON.stringify(wireEvent(report, { id, at })),
    }))
  }

  /** These are no longer in flight. */
  putBack(results: ReadonlyArray<OutgoingResult>): void {
    const ids = new Set(results.map(({ id }) => id))
    this.#results = this.#results.map((one) => (ids.has(one.id) ? { ...one, isInFlight: false } : one))
  }

  remove(ids: ReadonlySet<string>): void {
    this.#results = this.#results.filter(({ id }) => !ids.has(id))
  }

  clear(): void {
    this.#results = []
  }

  /** The last ones of the check that are equal, without the first of them: the new one stands for them. */
  #supersededBy({ report }: PendingResult): ReadonlyArray<string> {
    const ofCheck = this.#results.filter((one) => one.report.checkId === report.checkId)
    const superseded: Array<string> = []
    for (let last = ofCheck.pop(); last !== undefined && !last.isInFlight; last = ofCheck.pop()) {
      if (!isSuperseded([ofCheck.at(-1)?.report, last.report], report)) break
      superseded.push(last.id)
    }
    return superseded
  }

  #firstRepeat(): number {
    const last = new Map<string, CheckReport>()
    return this.#results.findIndex(({ report, isInFlight }) => {
      const previous = last.get(report.checkId)
      last.set(report.checkId, report)
      return !isInFlight && previous !== undefined && isSameOutcome(previous, report)
    })
  }
}
