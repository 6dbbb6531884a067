import { statSync } from "node:fs"
import { type CheckReport, newEventId } from "@tocsin/reporting/agent/CheckReport"
import { MemoryTail } from "@tocsin/reporting/agent/MemoryTail"
import { explainError } from "../sending/explainError.ts"
import { quarantine } from "./openDatabase.ts"
import {
  type CheckState,
  fitting,
  type OutgoingResult,
  type ResultQueue,
} from "@tocsin/reporting/agent/ResultQueue"
import { defaultOptions, type SpoolOptions } from "./spoolRules.ts"
import { spoolFaultOf } from "./spoolFault.ts"
import { daysAfter, lastAfter, savedDays } from "./WaitingDays.ts"
import { type RejectedResult, type SpoolExtent, type SpoolFile } from "./SpoolFile.ts"

/** A result on its way to the server. */
export interface SpooledResult extends OutgoingResult {
  /** Its place in the file; none while it is only in memory. */
  readonly seq: number | undefined
  /** Counts the files of this spool: a damaged one is replaced, and places in the new one differ. */
  readonly file: number
}

/** The server takes results in the order of the file, so that one place says which. */
const NONE_SENT = { seq: 0, count: 0 }

/** Rows that one pass removes when the spool is over its bounds. */
const DROPPED_TOGETHER = 200
const DAYS_NOTE = "waiting_days"

/**
 * The results that the server has not taken. A result counts once `flush` has put it on the disk,
 * and leaves only by `acknowledge`, `reject` or a counted drop. While the disk refuses writes,
 * results wait in memory and are still sent, after those in the file.
 */
export class Spool implements ResultQueue<SpooledResult> {
  readonly #options: Required<SpoolOptions>
  readonly #tail = new MemoryTail()
  #file: SpoolFile | undefined
  #files = 0
  /** The last result in the file that the server took, and how many wait for their deletion. */
  #sent = NONE_SENT
  readonly #states = new Map<string, CheckState>()
  #rejects: Array<RejectedResult> = []
  readonly #notes = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  #isRefused = false
  /** The damage of the file, until it is set aside: it is neither read nor written. */
  #damage: unknown

  private constructor(options: Required<SpoolOptions>) {
    this.#options = options
  }

  /** Opens the spool. Sets a damaged file aside, and waits for a full disk. */
  static open(options: SpoolOptions): Spool {
    const spool = new Spool({ ...defaultOptions, ...options })
    spool.#reach(() => spool.#file?.verify())
    return spool
  }

  /** Whether the disk takes what is recorded. */
  get isOnDisk(): boolean {
    return !this.#isRefused && this.#file !== undefined && this.#file.refusal === undefined
  }

  /** Takes a report; `flush` puts it on the disk. Returns the id that it keeps. */
  record(report: CheckReport): string {
    const { bounds, isServerTime, now } = this.#options
    const at = now()
    const id = newEventId(at)
    const { dropped } = this.#tail.add({ report, id, at, isServerTime: isServerTime() }, bounds.inMemory)
    if (dropped !== undefined) this.count(dropped.isChange ? "dropped_changes" : "dropped_repeats")
    return id
  }

  /** Sets what `status` shows, with the next flush; an empty text removes it. */
  setNote(name: string, value: string): void {
    this.#notes.set(name, value)
  }

  /** Adds to a counter, with the next flush. */
  count(name: string, by = 1): void {
    if (by > 0) this.#counts.set(name, (this.#counts.get(name) ?? 0) + by)
  }

  /** Puts everything recorded on the disk. `false` while the disk refuses. */
  flush(): boolean {
    const isEmpty =
      this.#tail.size + this.#sent.count + this.#states.size + this.#rejects.length === 0 &&
      this.#notes.size + this.#counts.size === 0
    if (isEmpty && this.isOnDisk) return true
    if (this.#file?.refusal !== undefined) this.#closeFile()
    const isWritten = this.#reach((file) => {
      file.write({
        add: this.#tail.all(),
        sentUpTo: this.#sent.seq,
        reject: this.#rejects,
        states: this.#states,
        notes: this.#notes,
        counts: this.#counts,
      })
      this.#tail.clear()
      this.#rejects = []
      this.#sent = NONE_SENT
      for (const unsaved of [this.#states, this.#notes, this.#counts]) unsaved.clear()
    })
    if (!isWritten) return false
    // Only a write shows it: a full disk can still be read.
    if (this.#isRefused) this.#options.warn(`${this.#options.path} is written again`)
    this.#isRefused = false
    this.#keepWithinBytes()
    return true
  }

  /** The oldest results that fit together, in order. */
  take(limit: number, maxBytes: number): ReadonlyArray<SpooledResult> {
    let found: ReadonlyArray<SpooledResult> = []
    const { isServerTime, now } = this.#options
    const latest = isServerTime() ? now() : undefined
    const isRead = this.#reach((file) => {
      found = file.oldest(limit, this.#sent.seq, latest).map((row) => ({ ...row, file: this.#files }))
    })
    // Results in memory are newer than those in the file, so they must not overtake them.
    if ((isRead || this.#isWithoutFile()) && this.#isRefused && found.length < limit) {
      const states = this.#knownStates()
      const taken = this.#tail.take(limit - found.length, states)
      found = [...found, ...taken.map((one) => ({ ...one, seq: undefined, file: this.#files }))]
    }
    const taken = fitting(found, maxBytes)
    this.putBack(found.slice(taken.length))
    return taken
  }

  /** The server has taken these. */
  acknowledge(results: ReadonlyArray<SpooledResult>): void {
    this.#forget(results)
    this.flush()
  }

  /** The server will never take this one. */
  reject(result: SpooledResult, reason: string): void {
    const { id, checkId, body } = result
    this.#rejects.push({ id, checkId, body, reason, at: this.#options.now() })
    this.count("rejected", 1)
    this.acknowledge([result])
  }

  /** These wait again. Those in the file never left it. */
  putBack(results: ReadonlyArray<SpooledResult>): void {
    this.#tail.putBack(results)
  }

  size(): number {
    return this.extent().results
  }

  /** The number and size of waiting results, in the file and in memory. */
  extent(): SpoolExtent {
    let extent: SpoolExtent = { results: 0, bytes: 0 }
    this.#reach((file) => (extent = file.extent()))
    return { results: extent.results - this.#sent.count + this.#tail.size, bytes: extent.bytes }
  }

  /** When the oldest waiting result was observed. */
  oldestAt(): number | undefined {
    let oldest: number | undefined
    this.#reach((file) => (oldest = file.oldest(1, this.#sent.seq)[0]?.observedAt))
    return oldest ?? this.#tail.all()[0]?.at
  }

  /** Whether a change of status waits; `false` where only repeats do. */
  hasChange(): boolean {
    let found = this.#isRefused && this.#tail.size > 0
    this.#reach((file) => (found ||= file.hasChangeAfter(this.#sent.seq)))
    return found
  }

  /** The last result of each check that is on the disk. */
  states(): ReadonlyMap<string, CheckState> {
    return this.#knownStates()
  }

  notes(): ReadonlyMap<string, string> {
    let notes: ReadonlyMap<string, string> = new Map()
    this.#reach((file) => (notes = file.notes()))
    const counts = [...this.#counts].map(([name, by]): [string, string] => [
      name,
      String(Number(notes.get(name) ?? 0) + by),
    ])
    return new Map([...notes, ...counts, ...this.#notes])
  }

  /** Changes whenever another process has reported. */
  version(): number {
    let version = -1
    this.#reach((file) => (version = file.dataVersion()))
    return version
  }

  /** Counts time in which the agent ran, and drops what has waited beyond the age that the bounds allow. */
  dropAged(millis: number): void {
    const { ageDays: bound } = this.#options.bounds
    this.#reach((file) => {
      const before = savedDays(this.#notes.get(DAYS_NOTE) ?? file.notes().get(DAYS_NOTE))
      const days = daysAfter(before, { millis, last: file.last(), bound })
      this.setNote(DAYS_NOTE, JSON.stringify(days))
      file.dropUpTo(lastAfter(bound, days))
    })
  }

  /** Puts everything on the disk and closes the file. */
  close(): void {
    this.flush()
    this.#closeFile()
  }

  /** Whether no result can be in the file: it is to be set aside, or the disk has no room for a new one. */
  #isWithoutFile(): boolean {
    if (this.#damage !== undefined) return true
    return (statSync(this.#options.path, { throwIfNoEntry: false })?.size ?? 0) === 0
  }

  #closeFile(): void {
    this.#file?.close()
    this.#file = undefined
  }

  #forget(results: ReadonlyArray<SpooledResult>): void {
    const inMemory = results.filter(({ seq }) => seq === undefined)
    for (const { seq, file } of results) {
      if (seq !== undefined && file === this.#files) this.#sent = { seq, count: this.#sent.count + 1 }
    }
    const ids = new Set(inMemory.map(({ id }) => id))
    for (const { id, report, at } of this.#tail.all()) {
      if (!ids.has(id)) continue
      this.#states.set(report.checkId, { observedAt: at, status: report.status, exitCode: report.exitCode })
    }
    this.#tail.remove(ids)
  }

  #knownStates(): Map<string, CheckState> {
    const states = new Map<string, CheckState>()
    this.#reach((file) => {
      for (const [checkId, state] of file.states()) states.set(checkId, state)
    })
    for (const [checkId, state] of this.#states) states.set(checkId, state)
    return states
  }

  #keepWithinBytes(): void {
    this.#reach((file) => {
      while (file.extent().bytes > this.#options.bounds.bytes) {
        const { repeats, changes } = file.dropOldest(DROPPED_TOGETHER)
        if (repeats + changes === 0) return
      }
    })
  }

  /** Does something with the file, opening it first where needed. `false` if it could not be done. */
  #reach(work: (file: SpoolFile) => void): boolean {
    for (let attempt = 0; ; attempt++) {
      try {
        if (this.#damage !== undefined) this.#startOver(this.#damage)
        this.#file ??= this.#options.openFile(this.#options.path)
        work(this.#file)
        return true
      } catch (error) {
        const fault = spoolFaultOf(error)
        if (fault === "defect" || (fault === "damaged" && attempt > 0)) throw error
        if (fault === "refused") {
          this.#refuse(error)
          return false
        }
        this.#closeFile()
        this.#damage = error
      }
    }
  }

  #refuse(error: unknown): void {
    const { path, warn } = this.#options
    if (!this.#isRefused) warn(`${path} cannot be written (${explainError(error)}); results wait in memory`)
    this.#isRefused = true
  }

  /** Sets a damaged file aside, so that the next one to open is a new one. */
  #startOver(damage: unknown): void {
    const { path, now, warn } = this.#options
    const aside = quarantine(path, now())
    warn(`${path} is damaged (${explainError(damage)}): it is now ${aside}, and a new spool starts empty`)
    this.#damage = undefined
    // The new file counts places from the beginning.
    this.#notes.delete(DAYS_NOTE)
    this.#files += 1
    this.#sent = NONE_SENT
    this.count("damaged", 1)
  }
}
