import type { Instant } from "@tocsin/contract/formats/Instant"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import type { NumberInput, NumberResults } from "../../kernel/model/NumberInput.ts"
import { agentBound, MOST_EVER_OF_CHECK, MOST_OF_CHECK, type SeriesBound } from "./NumberBounds.ts"
import { nameKey, PART_KINDS } from "./NumberPart.ts"
import type { KnownSeries, SeriesRef } from "../../kernel/ports/NumberStorage.ts"
import { OpenSpans } from "./OpenSpans.ts"
import { hasBound, MILLIS_PER_SECOND, type Reading, readingsOf } from "./readings.ts"
import { type DuePart, PartMemory } from "./PartMemory.ts"
import { DURATION_KEY, type Part, RATE_WITHIN, type Series, SeriesIndex, valueOf } from "./Series.ts"

const DAY = PART_KINDS.day.length
/** A moment further ahead is of a clock that has been set back since. */
const SKEW = 60_000

/** Milliseconds since 1970, without the cost of dividing a bigint: doubles have those of 280 years. */
const millisOf = (instant: Instant): number => Math.floor(Number(instant) / 1_000)

const NO_EVENTS: NumberResults["events"] = []

/** Names a series that is not kept, and how many values it has lost. */
export type OnRefused = (bound: SeriesBound, series: SeriesRef, values: number) => void

/** A series with its last value, if it is in memory, and when it was last stated: the start of its newest part at least. */
export interface LastOfSeries {
  readonly ref: SeriesRef
  readonly last: { readonly value: number; readonly at: number } | undefined
  readonly newest: number
}

/** The numbers that a server has not yet stored, in memory (docs/rules.md#numbers). It does no I/O. */
export class Gathering {
  readonly #most: number
  readonly #refused: OnRefused
  readonly #series = new SeriesIndex()
  readonly #open = new OpenSpans()
  readonly #parts = new PartMemory(this.#open)
  /** Series that gave their places to new ones. */
  #ended: Array<SeriesRef> = []
  /** Whether the series that are stored count. */
  #isKnown = false

  /** Keeps at most `most` series. */
  constructor(most: number, refused: OnRefused) {
    this.#most = most
    this.#refused = refused
  }

  /** Whether what is stored is known, so that bounds are. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  get seriesCount(): number {
    return this.#series.count
  }

  /** Whether parts of hours that are over should be written soon, so that they leave. */
  get isCrowded(): boolean {
    return this.#parts.isCrowded
  }

  /**
   * The series that are stored count, with when their newest values came; others do while they are in memory. Until
   * then, series are admitted by what is in memory alone: those for which there is no room end now.
   */
  know(stored: ReadonlyArray<KnownSeries>, now: number): void {
    const present = new Set<Series>()
    for (const { newest, ...ref } of stored) {
      const series = this.#series.of(ref)?.get(nameKey(ref)) ?? this.#add(ref)
      const statedAt = this.#open.statedAt(series.row)
      if (newest <= now && (statedAt < newest || statedAt > now)) this.#open.state(series.row, newest)
      present.add(series)
    }
    for (const series of this.#series.all()) {
      if (present.has(series)) continue
      const isCounted = series.counted !== undefined && now - series.counted.at <= RATE_WITHIN
      if (!this.#isKnown) this.#admitAgain(series, now)
      else if (series.parts.length === 0 && !isCounted) this.#remove(series)
    }
    this.#isKnown = true
  }

  /** Takes the results that state no more than a known duration, as most do. Gives the others. */
  takeDurations(results: NumberResults): NumberResults["events"] {
    const now = millisOf(results.received_at)
    const durations = this.#series.durationsOf(results.registration_id)
    // Results that ran together have the same time.
    let [measured, at] = [results.received_at, now]
    let others: Array<NumberResults["events"][number]> | undefined
    for (const event of results.events) {
      const { check_id, duration_ms, event_id, observed_at, output } = event
      const series = output?.includes("|") ? undefined : durations?.get(check_id)
      if (series === undefined || !this.#isPresent(series, now)) {
        ;(others ??= []).push(event)
        continue
      }
      if (duration_ms === 0 && event_id === undefined) continue
      if (observed_at !== measured) [measured, at] = [observed_at, Math.min(millisOf(observed_at), now)]
      this.#open.state(series.row, now)
      this.#parts.record(series, duration_ms / MILLIS_PER_SECOND, at, now)
    }
    return others ?? NO_EVENTS
  }

  take(measured: NumberInput): void {
    if (!("events" in measured)) return this.#end(measured)
    const { agent_id, events, received_at, registration_id } = measured
    const now = millisOf(received_at)
    for (const event of events) {
      const check = { agent_id, registration_id, check_id: event.check_id }
      // A result that waited on its agent counts from its own time, but a clock that is ahead does not.
      const at = Math.min(millisOf(event.observed_at), now)
      // Senders that measure no time have to state 0, and the server states it for others, without an ID.
      const isZeroTime = event.event_id !== undefined && this.#series.of(check)?.has(DURATION_KEY) === true
      for (const reading of this.#chosen(check, readingsOf(event, isZeroTime), now)) {
        const series = this.#admit(check, reading, now)
        const value = series === undefined ? undefined : valueOf(series, reading, { at, now })
        if (series !== undefined && value !== undefined) this.#parts.record(series, value, at, now)
      }
    }
  }

  /** The readings in the order in which they get places, where there are too many: those with bounds first, then known ones. */
  #chosen(check: CheckRef, readings: ReadonlyArray<Reading>, now: number): ReadonlyArray<Reading> {
    if (readings.length <= MOST_OF_CHECK) return readings
    const all = this.#series.of(check)
    const isKnown = (reading: Reading) => {
      const series = all?.get(nameKey(reading))
      return series !== undefined && this.#isPresent(series, now)
    }
    const rank = new Map(readings.map((one) => [one, Number(!hasBound(one)) * 2 + Number(!isKnown(one))]))
    const inOrder = readings.toSorted((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0))
    const { agent_id, registration_id, check_id } = check
    for (const { name, unit } of inOrder.slice(MOST_OF_CHECK))
      this.#refused("check", { agent_id, registration_id, check_id, name, unit }, 1)
    return inOrder.slice(0, MOST_OF_CHECK)
  }

  /** Ends the series of a check that was deleted, or that is new: another server may have deleted a former one. */
  #end(check: CheckRef): void {
    for (const part of this.#partsOf(check)) this.#parts.leave(part)
    for (const series of this.#series.of(check)?.values() ?? []) this.#remove(series)
  }

  /** The series of a check, each with its last value in memory. */
  lastOf(check: CheckRef): ReadonlyArray<LastOfSeries> {
    const all: Array<LastOfSeries> = []
    for (const series of this.#series.of(check)?.values() ?? [])
      all.push({ ref: series.ref, last: this.#parts.lastOf(series), newest: this.#open.statedAt(series.row) })
    return all
  }

  /** The parts with changes that are not written, of one check if it is given. */
  waiting(of?: CheckRef): ReadonlyArray<Part> {
    return of === undefined ? this.#parts.waiting : this.#partsOf(of)
  }

  /** Those of these parts that still have changes, to be written. */
  due(parts: ReadonlyArray<Part>): ReadonlyArray<DuePart> {
    return this.#parts.due(parts)
  }

  /** Forgets what will hardly change again. Returns how many values could not be written in time, and are lost. */
  forget(now: number): number {
    return this.#parts.forget(this.#series.all(), now)
  }

  /** How many values are not written. */
  get unwritten(): number {
    return this.#parts.unwritten
  }

  #partsOf(check: CheckRef): ReadonlyArray<Part> {
    return Array.from(this.#series.of(check)?.values() ?? []).flatMap(({ parts }) => parts)
  }

  #add(ref: SeriesRef): Series {
    // A name that is a part of an output would hold all of it.
    const name = Array.from(ref.name).join("")
    const series = {
      ref: { ...ref, name },
      row: this.#open.add(),
      counted: undefined,
      parts: [],
      open: undefined,
    }
    this.#series.add(series)
    return series
  }

  #remove(series: Series): void {
    this.#series.remove(series)
    this.#open.remove(series.row)
  }

  #isPresent({ row }: Series, now: number): boolean {
    const statedAt = this.#open.statedAt(row)
    return now - statedAt < DAY && statedAt <= now + SKEW
  }

  #admit(of: CheckRef, { name, unit }: Reading, now: number): Series | undefined {
    const known = this.#series.of(of)?.get(nameKey({ name, unit }))
    if (known !== undefined && this.#isPresent(known, now)) {
      this.#open.state(known.row, now)
      return known
    }
    const ref = { ...of, name, unit }
    if (known === undefined) this.#makeRoom(of, now)
    const bound = this.#boundOf(ref, now, { own: known, isKept: known !== undefined })
    if (bound !== undefined) {
      this.#refused(bound, ref, 1)
      return undefined
    }
    const series = known ?? this.#add(ref)
    this.#open.state(series.row, now)
    return series
  }

  /** Ends the series of a check that were stated longest ago, not within a day, where it has too many. */
  #makeRoom(check: CheckRef, now: number): void {
    const all = this.#series.of(check)
    if (all === undefined || all.size < MOST_EVER_OF_CHECK) return
    const statedAt = ({ row }: Series) => this.#open.statedAt(row)
    const others = Array.from(all.values()).filter((series) => !this.#isPresent(series, now))
    others.sort((a, b) => statedAt(a) - statedAt(b))
    for (const series of others.slice(0, 1 + all.size - MOST_EVER_OF_CHECK)) {
      for (const part of Array.from(series.parts)) this.#parts.leave(part)
      this.#remove(series)
      this.#ended.push(series.ref)
    }
  }

  /** Gives once the series that gave their places to new ones. */
  takeEnded(): ReadonlyArray<SeriesRef> {
    const ended = this.#ended
    this.#ended = []
    return ended
  }

  /** Ends a series that was begun before it was known how many there are, if there is no room. */
  #admitAgain(series: Series, now: number): void {
    const bound = this.#boundOf(series.ref, now, { own: series, isKept: false })
    if (bound === undefined) return
    this.#refused(
      bound,
      series.ref,
      series.parts.reduce((sum, part) => sum + this.#parts.unwrittenOf(part), 0),
    )
    for (const part of Array.from(series.parts)) this.#parts.leave(part)
    this.#remove(series)
  }

  /** The bound that a series would exceed, beside the others; one that is kept counts already. */
  #boundOf(
    ref: SeriesRef,
    now: number,
    { isKept, own }: { readonly own: Series | undefined; readonly isKept: boolean },
  ): SeriesBound | undefined {
    const counted = own === undefined ? 0 : 1
    if (!isKept && this.#series.count - counted >= this.#most) return "all"
    if (!isKept && this.#series.countOf(ref) - counted >= agentBound(this.#most)) return "agent"
    const check = this.#series.of(ref)
    if (check === undefined || check.size - counted < MOST_OF_CHECK) return undefined
    const present = Array.from(check.values()).filter((one) => one !== own && this.#isPresent(one, now))
    return present.length < MOST_OF_CHECK ? undefined : "check"
  }
}
