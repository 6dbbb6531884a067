import { type CheckReport, newEventId } from "@tocsin/reporting/agent/CheckReport"
import {
  type CheckState,
  fitting,
  MemoryTail,
  type OutgoingResult,
  type ResultQueue,
} from "@tocsin/reporting/agent/ResultQueue"
import { statSync } from "node:fs"
import { explainError } from "../sending/explainError.ts"
import { BUSY_IN_DAEMON_MILLIS, quarantine, REJECTED_KEPT } from "./openDatabase.ts"
import { waitingDaysAfter } from "./savedNote.ts"
import { type RejectedResult, type SpoolExtent, SpoolFile } from "./SpoolFile.ts"
import { spoolFaultOf } from "./spoolFault.ts"

/** How much the spool holds before it drops results, oldest first, changes last. */
export interface SpoolBounds {
  readonly bytes: number
  /** Days for which a result waits while the agent runs. */
  readonly ageDays: number
  /** Results in memory while the disk refuses them. */
  readonly inMemory: number
}

/** How a spool is opened. */
export interface SpoolOptions {
  readonly path: string
  readonly bounds?: SpoolBounds
  /** The corrected time. */
  readonly now: () => number
  /** Whether the server's time has corrected it; false unless given. */
  readonly isServerTime?: () => boolean
  readonly warn: (message: string) => void
  /** Tests bring files that fail. */
  readonly openFile?: (path: string) => SpoolFile
}

const BOUNDS: SpoolBounds = { bytes: 100 * 2 ** 20, ageDays: 30, inMemory: 1_000 }

/** A result on its way to the server. */
export interface SpooledResult extends OutgoingResult {
  /** Its place in the file; none while it is only in memory. */
  readonly seq: number | undefined
  /** Counts the files of this spool: a damaged one is replaced, and places in the new one differ. */
  readonly file: number
}

/** The server takes results in the order of the file, so that one place says which. */
const NONE_SENT = { seq: 0, count: 0 }

/** All but results that the next write puts into the file. */
const nothingUnsaved = () => ({
  reject: [] as Array<RejectedResult>,
  states: new Map<string, CheckState>(),
  notes: new Map<string, string>(),
  counts: new Map<string, number>(),
})

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
  #unsaved = nothingUnsaved()
  #isRefused = false
  /** The damage of the file, until it is set aside: it is neither read nor written. */
  #damage: unknown

  private constructor(options: Required<SpoolOptions>) {
    this.#options = options
  }

  /** Opens the spool. Sets a damaged file aside, and waits for a full disk. */
  static open(options: SpoolOptions): Spool {
    const openFile = (path: string) => SpoolFile.open(path, BUSY_IN_DAEMON_MILLIS)
    const spool = new Spool({ bounds: BOUNDS, openFile, isServerTime: () => false, ...options })
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
    const dropped = this.#tail.add({ report, id, at, isServerTime: isServerTime() }, bounds.inMemory)
    if (dropped !== undefined) this.count(dropped.isChange ? "dropped_changes" : "dropped_repeats")
    return id
  }

  /** Sets what `status` shows, with the next flush; an empty text removes it. */
  setNote(name: string, value: string): void {
    this.#unsaved.notes.set(name, value)
  }

  /** Adds to a counter, with the next flush. */
  count(name: string): void {
    const { counts } = this.#unsaved
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }

  /** Puts everything recorded on the disk. `false` while the disk refuses. */
  flush(): boolean {
    const { counts, notes, reject, states } = this.#unsaved
    const unsaved = reject.length + states.size + notes.size + counts.size
    const isEmpty = this.#tail.size + this.#sent.count + unsaved === 0
    if (isEmpty && this.isOnDisk) return true
    if (this.#file?.refusal !== undefined) this.#closeFile()
    const isWritten = this.#reach((file) => {
      file.write({ ...this.#unsaved, add: this.#tail.all(), sentUpTo: this.#sent.seq })
      this.#tail.clear()
      this.#sent = NONE_SENT
      this.#unsaved = nothingUnsaved()
    })
    if (!isWritten) return false
    // Only a write shows it: a full disk can still be read.
    if (this.#isRefused) this.#options.warn(`${this.#options.path} is written again`)
    this.#isRefused = false
    this.#reach((file) => {
      while (file.extent().bytes > this.#options.bounds.bytes)
        if (file.dropOldest(DROPPED_TOGETHER) === 0) return
    })
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
      const taken = this.#tail.take(limit - found.length, new Map(this.states()))
      found = [...found, ...taken.map((one) => ({ ...one, seq: undefined, file: this.#files }))]
    }
    const taken = fitting(found, maxBytes)
    this.putBack(found.slice(taken.length))
    return taken
  }

  /** The server has taken these. */
  acknowledge(results: ReadonlyArray<SpooledResult>): void {
    for (const { seq, file } of results) {
      if (seq !== undefined && file === this.#files) this.#sent = { seq, count: this.#sent.count + 1 }
    }
    const inMemory = new Set(results.flatMap(({ id, seq }) => (seq === undefined ? id : [])))
    for (const { id, report, at } of this.#tail.all()) {
      if (!inMemory.has(id)) continue
      const { checkId, exitCode, status } = report
      this.#unsaved.states.set(checkId, { observedAt: at, status, exitCode })
    }
    this.#tail.remove(inMemory)
    this.flush()
  }

  /** The server will never take this one. */
  reject(result: SpooledResult, reason: string): void {
    const { id, checkId, body } = result
    const count = this.#unsaved.reject.push({ id, checkId, body, reason, at: this.#options.now() })
    this.#unsaved.reject.splice(0, count - REJECTED_KEPT)
    this.count("rejected")
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
    const { results, bytes } = this.#read({ results: 0, bytes: 0 }, (file) => file.extent())
    return { results: results - this.#sent.count + this.#tail.size, bytes }
  }

  /** When the oldest waiting result was observed. */
  oldestAt(): number | undefined {
    const [oldest] = this.#read([], (file) => file.oldest(1, this.#sent.seq))
    return oldest?.observedAt ?? this.#tail.all()[0]?.at
  }

  /** Whether a change of status waits; `false` where only repeats do. */
  hasChange(): boolean {
    const isInMemory = this.#isRefused && this.#tail.size > 0
    return isInMemory || this.#read(false, (file) => file.hasChangeAfter(this.#sent.seq))
  }

  /** The last result of each check that is on the disk, or that the server took from memory. */
  states(): ReadonlyMap<string, CheckState> {
    const saved = this.#read<ReadonlyMap<string, CheckState>>(new Map(), (file) => file.states())
    return new Map([...saved, ...this.#unsaved.states])
  }

  notes(): ReadonlyMap<string, string> {
    const notes = this.#read<ReadonlyMap<string, string>>(new Map(), (file) => file.notes())
    const all = new Map(notes)
    for (const [name, by] of this.#unsaved.counts) all.set(name, String(Number(notes.get(name) ?? 0) + by))
    return new Map([...all, ...this.#unsaved.notes])
  }

  /** Changes whenever another process has reported. */
  version(): number {
    return this.#read(-1, (file) => file.dataVersion())
  }

  /** Counts time in which the agent ran, and drops what has waited beyond the age that the bounds allow. */
  dropAged(millis: number): void {
    const { ageDays: bound } = this.#options.bounds
    this.#reach((file) => {
      const saved = this.#unsaved.notes.get(DAYS_NOTE) ?? file.notes().get(DAYS_NOTE)
      const { note, last } = waitingDaysAfter(saved, { millis, last: file.last(), bound })
      this.setNote(DAYS_NOTE, note)
      file.dropUpTo(last)
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

  /** Reads from the file; `otherwise` where that cannot be done. */
  #read<A>(otherwise: A, read: (file: SpoolFile) => A): A {
    let found = otherwise
    this.#reach((file) => (found = read(file)))
    return found
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
          const { path, warn } = this.#options
          const reason = explainError(error)
          if (!this.#isRefused) warn(`${path} cannot be written (${reason}); results wait in memory`)
          this.#isRefused = true
          return false
        }
        this.#closeFile()
        this.#damage = error
      }
    }
  }

  /** Sets a damaged file aside, so that the next one to open is a new one. */
  #startOver(damage: unknown): void {
    const { path, now, warn } = this.#options
    const aside = quarantine(path, now())
    warn(`${path} is damaged (${explainError(damage)}): it is now ${aside}, and a new spool starts empty`)
    this.#damage = undefined
    // The new file counts places from the beginning.
    this.#unsaved.notes.delete(DAYS_NOTE)
    this.#files += 1
    this.#sent = NONE_SENT
    this.count("damaged")
  }
}
