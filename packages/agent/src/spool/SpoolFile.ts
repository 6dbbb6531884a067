import type { DatabaseSync, StatementSync } from "node:sqlite"
import { BUSY_MILLIS, openDatabase, STATEMENTS } from "./openDatabase.ts"
import {
  AHEAD_MILLIS,
  type CheckState,
  isSameOutcome,
  isSuperseded,
  observedAfter,
  type OutgoingResult,
  type PendingResult,
} from "@tocsin/reporting/agent/ResultQueue"
import { wireEvent } from "@tocsin/reporting/agent/CheckReport"

/** A result in the file. */
type StoredResult = OutgoingResult & { readonly seq: number; readonly observedAt: number }

/** A result that the server refused for good. */
export type RejectedResult = OutgoingResult & { readonly reason: string; readonly at: number }

/** Everything that one transaction writes. */
export interface SpoolChange {
  readonly add: ReadonlyArray<PendingResult>
  /** The server has taken or refused the results up to this one. */
  readonly sentUpTo?: number
  readonly reject?: ReadonlyArray<RejectedResult>
  /** States of checks whose results never were in the file. */
  readonly states?: ReadonlyMap<string, CheckState>
  /** An empty text removes a note. */
  readonly notes?: ReadonlyMap<string, string>
  /** Added to counters. */
  readonly counts?: ReadonlyMap<string, number>
}

/** The content of the file. */
export interface SpoolExtent {
  readonly results: number
  readonly bytes: number
}

/** SQLite's code for a file that contradicts itself. */
const CORRUPT = 11

/** The rows of the statements that read. */
interface Rows {
  readonly state: CheckState
  readonly states: CheckState & { readonly checkId: string }
  readonly lastTwo: Pick<CheckState, "status" | "exitCode"> & { readonly seq: number }
  readonly oldest: StoredResult
  readonly hasChange: object
  readonly last: { readonly seq: number | null }
  readonly extent: SpoolExtent
  readonly notes: { readonly name: string; readonly value: string }
  readonly dataVersion: { readonly data_version: number }
}

/** The spool as a database. Every method may throw the database's errors. */
export class SpoolFile {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<keyof typeof STATEMENTS, StatementSync>()

  /** Why the file cannot be written while it is open, if so. */
  readonly refusal: unknown

  private constructor(database: DatabaseSync, refusal?: unknown) {
    this.#database = database
    this.refusal = refusal
  }

  /**
   * Opens or creates the file. Processes share it: WAL, and every commit waits for the disk. Where
   * the disk refuses even the file that they share beside it, the file is opened for this process
   * alone, and only to read.
   */
  static open(path: string, busyMillis = BUSY_MILLIS): SpoolFile {
    const { database, refusal } = openDatabase(path, busyMillis)
    return new SpoolFile(database, refusal)
  }

  /** Throws as a damaged file does if the file contradicts itself. */
  verify(): void {
    const found = this.#database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]
    if (found !== "ok") throw Object.assign(new Error(String(found)), { errcode: CORRUPT })
  }

  /** Writes all of it or nothing, and returns after it is on the disk. */
  write(change: SpoolChange): void {
    this.decide(() => change)
  }

  /** Writes what follows from the notes, which no other process changes meanwhile. */
  decide(decision: (notes: ReadonlyMap<string, string>) => SpoolChange): void {
    this.#inTransaction(() => {
      const change = decision(this.notes())
      this.#run("removeSent", change.sentUpTo ?? 0)
      for (const [checkId, state] of change.states ?? []) this.#setState(checkId, state)
      for (const pending of change.add) this.#add(pending)
      for (const { id, checkId, body, reason, at } of change.reject ?? []) {
        this.#run("reject", id, checkId, body, reason, at)
      }
      if ((change.reject?.length ?? 0) > 0) this.#run("forgetRejected")
      for (const [name, value] of change.notes ?? []) {
        if (value === "") this.#run("forgetNote", name)
        else this.#run("setNote", name, value)
      }
      for (const [name, by] of change.counts ?? []) this.#run("count", name, String(by))
    })
  }

  /**
   * The results at the head of the queue, after `seq`. What a clock that was ahead has left is dated
   * first where the server's time is known: the server would ignore all later results.
   */
  oldest(limit: number, seq = 0, now = Number.POSITIVE_INFINITY): ReadonlyArray<StoredResult> {
    const found = this.#all("oldest", seq, limit)
    if (!found.some(({ observedAt }) => observedAt - now > AHEAD_MILLIS)) return found
    this.#inTransaction(() => this.#redate(now))
    return this.oldest(limit, seq)
  }

  /** Whether a change of status waits after `seq`. */
  hasChangeAfter(seq: number): boolean {
    return this.#all("hasChange", seq).length > 0
  }

  /** The place of the last result; 0 without any. Places are never used again. */
  last(): number {
    return this.#all("last")[0]?.seq ?? 0
  }

  extent(): SpoolExtent {
    return this.#all("extent")[0] ?? { results: 0, bytes: 0 }
  }

  states(): ReadonlyMap<string, CheckState> {
    return new Map(this.#all("states").map(({ checkId, ...state }) => [checkId, state]))
  }

  notes(): ReadonlyMap<string, string> {
    return new Map(this.#all("notes").map(({ name, value }) => [name, value]))
  }

  /** Removes the oldest repeats, or, if there are none, the oldest results. Returns how many. */
  dropOldest(limit: number): number {
    return this.#inTransaction(() => {
      const repeats = this.#run("dropRepeats", limit)
      const changes = repeats === 0 ? this.#run("dropOldest", limit) : 0
      this.#countDropped(repeats, changes)
      return repeats + changes
    })
  }

  /** Removes a result and those before it, and the states of checks that reported longest ago, where they are too many. */
  dropUpTo(seq: number): void {
    this.#inTransaction(() => {
      this.#run("forgetStates")
      this.#countDropped(this.#run("dropAged", seq, 0), this.#run("dropAged", seq, 1))
    })
  }

  /** Changes whenever another process has written. */
  dataVersion(): number {
    return this.#all("dataVersion")[0]?.data_version ?? 0
  }

  close(): void {
    this.#database.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #countDropped(repeats: number, changes: number): void {
    if (repeats > 0) this.#run("count", "dropped_repeats", String(repeats))
    if (changes > 0) this.#run("count", "dropped_changes", String(changes))
  }

  #add(pending: PendingResult): void {
    const { report, id } = pending
    const { checkId, status, exitCode } = report
    const [before] = this.#all("state", checkId)
    const observedAt = observedAfter(before, pending)
    if (before !== undefined && observedAt < before.observedAt) {
      this.#run("count", "dated_ahead", "1")
      this.#redate(observedAt)
    }
    const [last, beforeLast] = this.#all("lastTwo", checkId)
    if (last !== undefined && isSuperseded([beforeLast, last], report)) this.#run("remove", last.seq)
    const isChange = before === undefined || !isSameOutcome(before, report)
    const body = JSON.stringify(wireEvent(report, { id, at: observedAt }))
    this.#run("add", id, checkId, observedAt, status, exitCode, isChange ? 1 : 0, body)
    this.#setState(checkId, { observedAt, status, exitCode })
  }

  #redate(now: number): void {
    this.#run("redate", now, new Date(now).toISOString(), now + AHEAD_MILLIS)
  }

  #setState(checkId: string, { observedAt, status, exitCode }: CheckState): void {
    this.#run("setState", checkId, observedAt, status, exitCode)
  }

  #inTransaction<A>(work: () => A): A {
    if (this.refusal !== undefined) throw this.refusal
    this.#run("begin")
    try {
      const result = work()
      this.#run("commit")
      return result
    } catch (error) {
      // SQLite itself rolls back on some errors.
      if (this.#database.isTransaction) this.#run("rollback")
      throw error
    }
  }

  #statement(name: keyof typeof STATEMENTS): StatementSync {
    const found = this.#prepared.get(name)
    if (found !== undefined) return found
    const made = this.#database.prepare(STATEMENTS[name])
    this.#prepared.set(name, made)
    return made
  }

  /** The number of rows that a statement changed. */
  #run(name: keyof typeof STATEMENTS, ...values: ReadonlyArray<string | number>): number {
    return Number(this.#statement(name).run(...values).changes)
  }

  #all<Name extends keyof Rows>(
    name: Name,
    ...values: ReadonlyArray<string | number>
  ): ReadonlyArray<Rows[Name]> {
    const found: ReadonlyArray<unknown> = this.#statement(name).all(...values)
    // The columns of each statement are the fields of its row, and the file holds only what `write` wrote.
    return found as ReadonlyArray<Rows[Name]>
  }
}
