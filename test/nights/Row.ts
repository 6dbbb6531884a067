import type { Cause } from "../firings/Story.ts"

/** Why a row came, beside what its receiver knows. */
type Special = "ack_ran_out" | "reminder" | "handover" | "beside" | "forced" | "again" | "step"

/** A notification of an incident to a receiver. */
export interface Row {
  readonly receiver: string
  readonly event: "firing" | "resolved"
  /** The number of the report in which it was written. */
  readonly batch: number
  written: number
  state: "held" | "due" | "sending" | "retry" | "sent" | "failed" | "discarded"
  id: string | undefined
  special: Special | undefined
  /** The causes that it may have, once it is due. */
  causes: ReadonlyArray<Cause>
  /** The severity that it states. */
  states: number
  /** The severity that it counts as, for what its receiver knows. */
  rank: number
  /** The rotas that name its receiver. */
  rotas: ReadonlySet<string>
  /** The rotas through which it was named before, while it waited. */
  earlierRotas: ReadonlySet<string>
  /** When it is due, while it is held. */
  dueAt: number
  /** When it became due. */
  freedAt: number
  /** From when on an attempt may begin. */
  readyAt: number
  attempts: number
  retrySince: number | undefined
  firstAttempt: number | undefined
  lastAttempt: number | undefined
  lastEnd: number | undefined
  /** Whether a success of another attempt at its receiver brought it again. */
  wasRepaired: boolean
  /** Whether the text leaves open that it is written. */
  isOptional: boolean
  /** The steps that it stands for: they were due while it waited, or it is theirs. */
  steps: ReadonlyArray<string>
  /** Whether no outage holds it: it has no delay, and nothing else held it. */
  isAtOnce: boolean
}

const WAITING: ReadonlyArray<string> = ["held", "due", "sending", "retry"]

/** The rows of an incident. */
export class Rows {
  readonly all: Array<Row> = []
  /** Rows in retry that an acknowledgement holds. */
  readonly heldRetries = new Set<Row>()

  write(at: number, receiver: string, batch: number, more: Partial<Row>): Row {
    const row: Row = {
      receiver,
      event: "firing",
      batch,
      written: at,
      state: "held",
      id: undefined,
      special: undefined,
      causes: [],
      states: 0,
      rank: 0,
      rotas: new Set(),
      earlierRotas: new Set(),
      dueAt: at,
      freedAt: Infinity,
      readyAt: Infinity,
      attempts: 0,
      retrySince: undefined,
      firstAttempt: undefined,
      lastAttempt: undefined,
      lastEnd: undefined,
      wasRepaired: false,
      isOptional: false,
      steps: [],
      isAtOnce: false,
      ...more,
    }
    this.all.push(row)
    return row
  }

  /** Moments of the past count as moved. A retry takes as long as it was to. */
  setBack(moved: (at: number) => number): void {
    for (const row of this.all) {
      if (row.state === "retry") row.readyAt += moved(row.lastEnd ?? 0) - (row.lastEnd ?? 0)
      row.written = moved(row.written)
      row.dueAt = moved(row.dueAt)
      row.freedAt = moved(row.freedAt)
      for (const name of ["retrySince", "firstAttempt", "lastAttempt", "lastEnd"] as const) {
        const at = row[name]
        if (at !== undefined) row[name] = moved(at)
      }
    }
  }

  /** The firings of a receiver that were not discarded. */
  firings(receiver: string): ReadonlyArray<Row> {
    return this.all.filter(
      (row) => row.receiver === receiver && row.event === "firing" && row.state !== "discarded",
    )
  }

  held(receiver: string): Row | undefined {
    return this.firings(receiver).find(({ state }) => state === "held")
  }

  /** The highest severity of firings that are neither held nor discarded. */
  knows(receiver: string): number {
    const known = this.firings(receiver).filter((row) => row.state !== "held" && !this.heldRetries.has(row))
    return Math.max(0, ...known.map(({ rank }) => rank))
  }

  /** Whether a firing waits, is under way or in retry. */
  isWaiting(receiver: string): boolean {
    return this.firings(receiver).some(({ state }) => WAITING.includes(state))
  }

  /** When the last attempt at a receiver began, also of a firing that was discarded since. */
  lastAttempt(receiver: string): number | undefined {
    const begun = this.all.flatMap((row) =>
      row.receiver === receiver && row.event === "firing" && row.lastAttempt !== undefined
        ? [row.lastAttempt]
        : [],
    )
    return begun.length === 0 ? undefined : Math.max(...begun)
  }

  /** Whether an earlier row of the receiver has not ended. */
  isBlocked(row: Row): boolean {
    const older = this.all.slice(0, this.all.indexOf(row))
    return older.some(
      ({ receiver, state }) => receiver === row.receiver && state !== "held" && WAITING.includes(state),
    )
  }
}
