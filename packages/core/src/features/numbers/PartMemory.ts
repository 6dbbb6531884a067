import { HOURS_KEPT, PART_KINDS, placesOf, startOf } from "./NumberPart.ts"
import type { OpenSpans } from "./OpenSpans.ts"
import { Recording } from "./Recording.ts"
import type { Part, Series } from "./Series.ts"
import { mergeSpans, spanOf } from "./Span.ts"
import type { PartKind, WrittenPart, Spans } from "../../kernel/ports/NumberStorage.ts"

const HOUR = PART_KINDS.hour.length
/** A part that cannot be written for this long is dropped. */
const WRITTEN_WITHIN = HOUR / 2
/** An hour stays in memory for this long after its start: only a later value has it read again. */
const HELD = HOUR + WRITTEN_WITHIN
/** Parts of hours that are over, which results bring that waited on their agents: some 32 MiB. */
const MOST_OLD = 32_768
/** A part to write, as it is now. */
export interface DuePart extends WrittenPart {
  /** Adds what this server stored of it, if that must be read first. */
  readonly complete: ((stored: Spans) => Spans) | undefined
  /** The part is written as it was. */
  readonly settle: () => void
  /** The part is of a check that was deleted. Gives how many of its values were not written. */
  readonly drop: () => number
}

/** The parts that a server has in memory, and what of them is not written. */
export class PartMemory {
  readonly #waiting = new Set<Part>()
  readonly #open: OpenSpans
  /** How many parts were of hours that were over when they began. */
  #old = 0
  /** Values for which there was no room. */
  #lost = 0
  /** The latest time at which parts were forgotten: a clock that is set back does not make an hour new. */
  #forgottenAt = Number.NEGATIVE_INFINITY

  constructor(open: OpenSpans) {
    this.#open = open
  }

  /** Whether parts of hours that are over should be written soon, so that they leave. */
  get isCrowded(): boolean {
    return this.#old > MOST_OLD / 2
  }

  /** The parts with changes that are not written. */
  get waiting(): ReadonlyArray<Part> {
    return Array.from(this.#waiting)
  }

  /** How many values are not written. */
  get unwritten(): number {
    return Array.from(this.#waiting).reduce((sum, part) => sum + this.unwrittenOf(part), this.#lost)
  }

  /** Those of these parts that still have changes, to be written. */
  due(parts: ReadonlyArray<Part>): ReadonlyArray<DuePart> {
    return parts.filter((part) => this.#waiting.has(part)).map((part) => this.#dueOf(part))
  }

  /** Forgets what will hardly change again. Returns how many values could not be written in time, and are lost. */
  forget(all: Iterable<Series>, now: number): number {
    let lost = this.#lost
    this.#lost = 0
    this.#forgottenAt = Math.max(this.#forgottenAt, now)
    const isOver = ({ changes, heldUntil, start }: Part) => heldUntil <= now || (changes === 0 && start > now)
    for (const series of all)
      for (const part of series.parts.filter(isOver)) {
        lost += this.unwrittenOf(part)
        this.leave(part)
      }
    return lost
  }

  /** The last value of a series that is in memory, and when it was measured. */
  lastOf({ parts, row }: Series): { readonly value: number; readonly at: number } | undefined {
    const open = this.#open.lastOf(row)
    if (open !== undefined) return open
    let last: { readonly value: number; readonly at: number } | undefined
    for (const { kind, recording, start } of parts) {
      const found = recording.last
      if (found === undefined) continue
      const at = start + found.place * PART_KINDS[kind].span
      if (at > (last?.at ?? 0)) last = { value: found.value, at }
    }
    return last
  }

  unwrittenOf(part: Part): number {
    if (!this.#waiting.has(part)) return 0
    if (part.series.open === part) this.#close(part.series)
    return part.recording.count - part.written
  }

  leave(part: Part): void {
    const { parts, open } = part.series
    this.#waiting.delete(part)
    if (open === part) this.#close(part.series)
    const place = parts.indexOf(part)
    const last = place < 0 ? undefined : parts.pop()
    if (last === undefined) return
    if (last !== part) parts[place] = last
    if (part.isOld) this.#old -= 1
  }

  #dueOf(part: Part): DuePart {
    if (part.series.open === part) this.#close(part.series)
    const { changes, kind, recording, series, since, start } = part
    const { count, spans } = recording
    let own: Spans | undefined
    return {
      ...series.ref,
      kind,
      start,
      since,
      spans,
      complete: part.isWhole
        ? undefined
        : (stored) => {
            own = stored
            return mergeSpans(stored, spans)
          },
      settle: () => {
        part.written = count
        if (own !== undefined) this.#addStored(part, own)
        if (part.changes !== changes) return
        part.changes = 0
        this.#waiting.delete(part)
        if (part.isOld) this.leave(part)
      },
      drop: () => {
        const lost = this.unwrittenOf(part)
        this.leave(part)
        return lost
      },
    }
  }

  /** Only once it is written again: until then, another server may fold what is stored. */
  #addStored(part: Part, stored: Spans): void {
    const { count } = part.recording
    part.recording.addStored(stored)
    part.written += part.recording.count - count
    part.isWhole = true
  }

  /** Adds a value to its part, or opens a span for it. */
  record(series: Series, value: number, at: number, now: number): void {
    if (at >= now - HOURS_KEPT && this.#open.record(series.row, value, at)) return
    const part = this.#partAt(series, at, now)
    if (part === undefined) {
      this.#lost += 1
      return
    }
    const { span } = PART_KINDS[part.kind]
    const place = Math.floor((at - part.start) / span)
    const start = part.start + place * span
    if (part.kind === "late") part.recording.add(place, spanOf(value, (at - start) / span))
    else {
      this.#close(series)
      this.#open.open(series.row, start, value, at)
      series.open = part
    }
    part.changes += 1
    if (part.changes > 1) return
    part.heldUntil = Math.max(part.heldUntil, now + WRITTEN_WITHIN)
    this.#waiting.add(part)
  }

  /** Adds what an open span has to its part. */
  #close(series: Series): void {
    const { open, row } = series
    const span = this.#open.close(row)
    if (span !== undefined) open?.recording.add((span.start - open.start) / PART_KINDS.hour.span, span)
    series.open = undefined
  }

  /** None where there is no room for further hours that are over. */
  #partAt(series: Series, at: number, now: number): Part | undefined {
    const kind = at < now - HOURS_KEPT ? "late" : "hour"
    const start = startOf(kind, at)
    const part = series.parts.find((one) => one.start === start && one.kind === kind)
    const isHeld = part !== undefined && (part.changes > 0 || part.isOld || now < start + HELD)
    if (isHeld) return part
    // Another server may fold what is stored of an hour that is over.
    if (part !== undefined) this.leave(part)
    return this.#begin(series, kind, start, now)
  }

  #begin(series: Series, kind: PartKind, start: number, now: number): Part | undefined {
    const heldUntil = kind === "hour" ? start + HELD : now
    const isOld = heldUntil <= now
    if (isOld && this.#old >= MOST_OLD) return undefined
    if (isOld) this.#old += 1
    const part = {
      series,
      kind,
      start,
      since: now,
      recording: new Recording(placesOf(kind)),
      isOld,
      isWhole: heldUntil > Math.max(now, this.#forgottenAt),
      changes: 0,
      written: 0,
      heldUntil,
    }
    series.parts.push(part)
    return part
  }
}
