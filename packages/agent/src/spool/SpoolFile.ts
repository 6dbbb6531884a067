import type { DatabaseSync, StatementSync } from "node:sqlite"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import { BUSY_MILLIS, openDatabase, STATEMENTS } from "./openDatabase.ts"
import {
  AHEAD_MILLIS,
  type CheckState,
  isSameOutcome,
  isSuperseded,
  observedAfter,
  type PendingResult,
} from "@tocsin/reporting/agent/ResultQueue"
import { wireEvent } from "@tocsin/reporting/agent/wireEvent"

/** A result in the file. */
export interface StoredResult {
  readonly seq: number
  readonly id: string
  readonly checkId: string
  readonly observedAt: number
  readonly body: string
}

/** A result that the server refused for good. */
export interface RejectedResult {
  readonly id: string
  readonly checkId: string
  readonly body: string
  readonly reason: string
  readonly at: number
}

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

type Row = Record<string, unknown>

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
    const found = this.#all("oldest", seq, limit).map((row) => ({
      seq: Number(row["seq"]),
      id: String(row["event_id"]),
      checkId: String(row["check_id"]),
      observedAt: Number(row["observed_ms"]),
      body: String(row["body"]),
    }))
    if (!found.some(({ observedAt }) => observedAt - now > AHEAD_MILLIS)) return found
    this.#inTransaction(() => this.#redate(now))
    return this.oldest(limit, seq)
  }

  /** Whether a change of status waits after `seq`. */
  hasChangeAfter(seq: number): boolean {
    return this.#get("hasChange", seq) !== undefined
  }

  /** The place of the last result; 0 without any. Places are never used again. */
  last(): number {
    return Number(this.#get("last")?.["seq"] ?? 0)
  }

  extent(): SpoolExtent {
    const row = this.#get("extent")
    return { results: Number(row?.["results"] ?? 0), bytes: Number(row?.["bytes"] ?? 0) }
  }

  states(): ReadonlyMap<string, CheckState> {
    return new Map(this.#all("states").map((row) => [String(row["check_id"]), toState(row)]))
  }

  rejected(): ReadonlyArray<RejectedResult> {
    return this.#all("rejected").map((row) => ({
      id: String(row["event_id"]),
      checkId: String(row["check_id"]),
      body: String(row["body"]),
      reason: String(row["reason"]),
      at: Number(row["rejected_ms"]),
    }))
  }

  notes(): ReadonlyMap<string, string> {
    return new Map(this.#all("notes").map((row) => [String(row["name"]), String(row["value"])]))
  }

  /** Removes the oldest repeats, or, if there are none, the oldest results. */
  dropOldest(limit: number): { readonly repeats: number; readonly changes: number } {
    return this.#inTransaction(() => {
      const repeats = Number(this.#run("dropRepeats", limit).changes)
      const changes = repeats === 0 ? Number(this.#run("dropOldest", limit).changes) : 0
      this.#count({ repeats, changes })
      return { repeats, changes }
    })
  }

  /** Removes a result and those before it. */
  dropUpTo(seq: number): { readonly repeats: number; readonly changes: number } {
    return this.#inTransaction(() => {
      const repeats = Number(this.#run("dropAged", seq, 0).changes)
      const changes = Number(this.#run("dropAged", seq, 1).changes)
      this.#count({ repeats, changes })
      return { repeats, changes }
    })
  }

  /** Changes whenever another process has written. */
  dataVersion(): number {
    return Number(this.#get("dataVersion")?.["data_version"])
  }

  close(): void {
    this.#database.close()
  }

  #count({ repeats, changes }: { readonly repeats: number; readonly changes: number }): void {
    if (repeats > 0) this.#run("count", "dropped_repeats", String(repeats))
    if (changes > 0) this.#run("count", "dropped_changes", String(changes))
  }

  #add(pending: PendingResult): void {
    const { report, id } = pending
    const { checkId, status, exitCode } = report
    const before = this.#stateOf(checkId)
    const observedAt = observedAfter(before, pending)
    if (before !== undefined && observedAt < before.observedAt) {
      this.#run("count", "dated_ahead", "1")
      this.#redate(observedAt)
    }
    const [last, beforeLast] = this.#all("lastTwo", checkId)
    const outcomes = [beforeLast, last].map((one) => (one === undefined ? undefined : toOutcome(one)))
    if (last !== undefined && isSuperseded([outcomes[0], outcomes[1]], report))
      this.#run("remove", Number(last["seq"]))
    const isChange = before === undefined || !isSameOutcome(before, report)
    const body = JSON.stringify(wireEvent(report, { id, at: observedAt }))
    this.#run("add", id, checkId, observedAt, status, exitCode, isChange ? 1 : 0, body)
    this.#setState(checkId, { observedAt, status, exitCode })
  }

  #redate(now: number): void {
    this.#run("redate", now, new Date(now).toISOString(), now + AHEAD_MILLIS)
  }

  #stateOf(checkId: string): CheckState | undefined {
    const row = this.#get("state", checkId)
    return row === undefined ? undefined : toState(row)
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

  #run(name: keyof typeof STATEMENTS, ...values: ReadonlyArray<string | number>) {
    return this.#statement(name).run(...values)
  }

  #get(name: keyof typeof STATEMENTS, ...values: ReadonlyArray<string | number>): Row | undefined {
    return this.#statement(name).get(...values)
  }

  #all(name: keyof typeof STATEMENTS, ...values: ReadonlyArray<string | number>): ReadonlyArray<Row> {
    return this.#statement(name).all(...values)
  }
}

const toOutcome = (row: Row) => ({
  // The file holds only what `add` wrote: one of the four.
  status: String(row["status"]) as CheckStatus,
  exitCode: Number(row["exit_code"]),
})

const toState = (row: Row): CheckState => ({ ...toOutcome(row), observedAt: Number(row["observed_ms"]) })
