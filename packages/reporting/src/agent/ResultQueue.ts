import { type CheckReport, type CheckStatus, keptReport, wireEvent } from "./CheckReport.ts"

const encoder = new TextEncoder()

/** The first results whose bodies fit into a batch together: at least one. */
export const fitting = <Result extends OutgoingResult>(
  results: ReadonlyArray<Result>,
  maxBytes: number,
): ReadonlyArray<Result> => {
  let bytes = 0
  const end = results.findIndex(({ body }, index) => {
    bytes += encoder.encode(body).length + 1
    return bytes > maxBytes && index > 0
  })
  return end < 0 ? results : results.slice(0, end)
}

/** The part of a result that decides whether it is a change. */
interface Outcome {
  readonly status: CheckStatus
  readonly exitCode: number
}

/** The last result of a check. */
export interface CheckState extends Outcome {
  readonly observedAt: number
}

/** The server compares the same two fields (docs/rules.md#events). */
export const isSameOutcome = (a: Outcome, b: Outcome): boolean =>
  a.status === b.status && a.exitCode === b.exitCode

/** A time further ahead of the server's is of a clock that was wrong. */
export const AHEAD_MILLIS = 600_000

/**
 * Times of a check increase strictly, because the server ignores results that are older than the last.
 * A clock that was ahead once, the host's or the server's, does not keep them ahead.
 */
export const observedAfter = (
  previous: CheckState | undefined,
  { at, isServerTime = false }: Pick<PendingResult, "at" | "isServerTime">,
): number => {
  if (previous === undefined) return at
  return isServerTime && previous.observedAt - at > AHEAD_MILLIS ? at : Math.max(at, previous.observedAt + 1)
}

/**
 * Whether the last waiting result of a check is superseded by the next one: it repeats the one
 * before it and so does the next, so the server cannot tell the difference.
 */
export const isSuperseded = (
  [beforeLast, last]: readonly [beforeLast: Outcome | undefined, last: Outcome | undefined],
  next: Outcome,
): boolean =>
  beforeLast !== undefined &&
  last !== undefined &&
  isSameOutcome(beforeLast, last) &&
  isSameOutcome(last, next)

/** A report with the id that it keeps, and the earliest time that it may state. */
export interface PendingResult {
  readonly report: CheckReport
  readonly id: string
  readonly at: number
  /** Whether the server's time has corrected `at`. */
  readonly isServerTime?: boolean
  /** Whether its outcome is another than that of the report before, where the queue knows. */
  readonly isChange?: boolean
}

/** A result on its way to the server. */
export interface OutgoingResult {
  readonly id: string
  readonly checkId: string
  readonly body: string
}

/** The waiting results, as a {@link Sender} needs to know them. */
export interface ResultQueue<Result extends OutgoingResult = OutgoingResult> {
  /** How many results wait, those in flight included. */
  readonly size: () => number
  /** Whether a change of status waits; `false` where only repeats do. */
  readonly hasChange: () => boolean
  /** The oldest results that fit together, in order. */
  readonly take: (limit: number, maxBytes: number) => ReadonlyArray<Result>
  /** The server has taken these. */
  readonly acknowledge: (results: ReadonlyArray<Result>) => void
  /** The server will never take this one. */
  readonly reject: (result: Result, reason: string) => void
  /** These wait again, in their places. */
  readonly putBack: (results: ReadonlyArray<Result>) => void
  /** Remembers something for people, or for the next start. */
  readonly setNote: (name: string, value: string) => void
}

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

  get inFlight(): number {
    return this.#results.filter(({ isInFlight }) => isInFlight).length
  }

  all(): ReadonlyArray<PendingResult> {
    return this.#results
  }

  /**
   * Adds a result in place of the repeats that it supersedes. Returns the result that is dropped beyond `limit`:
   * the first repeat, or else the oldest.
   */
  add(pending: PendingResult, limit: number) {
    this.remove(this.#supersededBy(pending))
    const report = keptReport(pending.report)
    this.#results.push({ ...pending, report, isFixed: false, isInFlight: false })
    if (this.#results.length <= limit) return undefined
    const repeat = this.#firstRepeat()
    const place = repeat >= 0 ? repeat : this.#results.findIndex(({ isInFlight }) => !isInFlight)
    const [dropped] = this.#results.splice(place, 1)
    return dropped && { isChange: repeat < 0 }
  }

  /** Fixes the times of the first results and returns them with their bodies. */
  take(limit: number, states: Map<string, CheckState>): ReadonlyArray<OutgoingResult> {
    const taken = this.#results.slice(0, limit).map((pending): TailResult => {
      const { report } = pending
      const before = pending.isFixed ? undefined : states.get(report.checkId)
      const observedAt = observedAfter(before, pending)
      // The one that was sent longest ago comes first.
      states.delete(report.checkId)
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

  /** Returns how many of these there were. */
  remove(ids: ReadonlySet<string>): number {
    const before = this.size
    this.#results = this.#results.filter(({ id }) => !ids.has(id))
    return before - this.size
  }

  clear(): void {
    this.#results = []
  }

  /** The last ones of the check that are equal, without the first of them: the new one stands for them. */
  #supersededBy({ report }: PendingResult): ReadonlySet<string> {
    const ofCheck = this.#results.filter((one) => one.report.checkId === report.checkId)
    const superseded = new Set<string>()
    for (let last = ofCheck.pop(); last !== undefined && !last.isInFlight; last = ofCheck.pop()) {
      if (!isSuperseded([ofCheck.at(-1)?.report, last.report], report)) break
      superseded.add(last.id)
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
