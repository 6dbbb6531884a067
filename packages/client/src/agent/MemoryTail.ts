import { type CheckState, isSuperseded, stampAfter } from "./resultRules.ts"
import type { PendingResult } from "./ResultQueue.ts"
import { wireEvent } from "./wireEvent.ts"

/** A result that was sent, or is being sent, from memory: its time is fixed. */
export interface TailResult extends PendingResult {
  readonly isFixed: boolean
}

/** What a bounded memory had to drop. */
export interface Dropped {
  readonly repeats: number
  readonly changes: number
}

/**
 * Results that are not in the file yet: for a moment while a group gathers, longer while the disk
 * refuses writes. The same bounds and rules apply as in the file.
 */
export class MemoryTail {
  #results: Array<TailResult> = []

  get size(): number {
    return this.#results.length
  }

  all(): ReadonlyArray<PendingResult> {
    return this.#results
  }

  /** Adds a result, and drops repeats first, then the oldest, beyond `limit`. */
  add(pending: PendingResult, limit: number): Dropped {
    const { checkId } = pending.report
    const ofCheck = this.#results.filter(({ report }) => report.checkId === checkId)
    const [beforeLast, last] = [ofCheck.at(-2), ofCheck.at(-1)]
    if (last !== undefined && isSuperseded([beforeLast?.report, last.report], pending.report)) {
      this.#results = this.#results.filter((one) => one !== last)
    }
    this.#results.push({ ...pending, isFixed: false })
    if (this.#results.length <= limit) return { repeats: 0, changes: 0 }
    const repeat = this.#firstRepeat()
    this.#results.splice(Math.max(0, repeat), 1)
    return repeat >= 0 ? { repeats: 1, changes: 0 } : { repeats: 0, changes: 1 }
  }

  /** Fixes the times of the first results and returns them with their bodies. */
  take(
    limit: number,
    states: Map<string, CheckState>,
  ): ReadonlyArray<{ readonly id: string; readonly body: string }> {
    const taken = this.#results.slice(0, limit).map((pending): TailResult => {
      const { report } = pending
      const before = pending.isFixed ? undefined : states.get(report.checkId)
      const { observedAt } = stampAfter(before, report, pending.at)
      states.set(report.checkId, { observedAt, status: report.status, exitCode: report.exitCode })
      return { ...pending, at: observedAt, isFixed: true }
    })
    this.#results.splice(0, taken.length, ...taken)
    return taken.map(({ id, report, at }) => ({ id, body: JSON.stringify(wireEvent(report, { id, at })) }))
  }

  remove(ids: ReadonlySet<string>): void {
    this.#results = this.#results.filter(({ id }) => !ids.has(id))
  }

  clear(): void {
    this.#results = []
  }

  #firstRepeat(): number {
    const last = new Map<string, PendingResult>()
    return this.#results.findIndex((pending) => {
      const { checkId, status, exitCode } = pending.report
      const previous = last.get(checkId)?.report
      last.set(checkId, pending)
      return previous !== undefined && previous.status === status && previous.exitCode === exitCode
    })
  }
}
