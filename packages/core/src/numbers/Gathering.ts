import type { CheckId, RegistrationId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { CheckRef } from "../model/CheckRecord.ts"
import type { Measured, MeasuredResults } from "./Measured.ts"
import { agentBound, MOST_OF_CHECK, type SeriesBound } from "./NumberBounds.ts"
import {
  HOURS_KEPT,
  type KnownSeries,
  nameKey,
  type NumberPart,
  PART_KINDS,
  type PartKind,
  placesOf,
  type SeriesRef,
  startOf,
} from "./NumberPart.ts"
import { DURATION, MILLIS_PER_SECOND, type Reading, readingsOf } from "./readings.ts"
import { Recording } from "./Recording.ts"
import { isNow, type Part, RATE_WITHIN, type Series, valueOf } from "./Series.ts"
import type { Spans } from "./Span.ts"

const HOUR = PART_KINDS.hour.length
const DAY = PART_KINDS.day.length
/** A part that cannot be written for this long is dropped. */
const WRITTEN_WITHIN = HOUR / 2
/** An hour stays in memory for this long after its start: only a later value has it read again. */
const HELD = HOUR + WRITTEN_WITHIN

/** A part to write, as it is now. */
export interface DuePart extends NumberPart {
  /** Adds what this server stored of it, if that must be read first. */
  readonly complete: ((stored: Spans) => Spans) | undefined
  /** The part is written as it was. */
  readonly settle: () => void
}

const DURATION_KEY = nameKey(DURATION)

/** The series of a check by {@link nameKey}, and that which most results state. */
class CheckSeries extends Map<string, Series> {
  duration: Series | undefined
}

/** Milliseconds since 1970, without the cost of dividing a bigint: doubles have those of 280 years. */
const millisOf = (instant: Instant): number => Math.floor(Number(instant) / 1_000)

/** The numbers that a server has not yet stored, in memory (docs/rules.md#numbers). It does no I/O. */
export class Gathering {
  readonly #most: number
  readonly #refused: (bound: SeriesBound, series: SeriesRef) => void
  readonly #checks = new Map<RegistrationId, Map<CheckId, CheckSeries>>()
  readonly #ofAgents = new Map<RegistrationId, number>()
  readonly #waiting = new Set<Part>()
  #count = 0
  /** The latest time at which parts were forgotten: a clock that is set back does not make an hour new. */
  #forgottenAt = Number.NEGATIVE_INFINITY

  /** Keeps at most `most` series, and names those that it refuses. */
  constructor(most: number, refused: (bound: SeriesBound, series: SeriesRef) => void) {
    this.#most = most
    this.#refused = refused
  }

  get seriesCount(): number {
    return this.#count
  }

  /** The series that are stored count, with when their newest values came; others do while they are in memory. */
  know(stored: ReadonlyArray<KnownSeries>, now: number): void {
    const present = new Set<Series>()
    for (const { newest, ...ref } of stored) {
      const series = this.#seriesOf(ref)?.get(nameKey(ref)) ?? this.#add(ref)
      series.statedAt = Math.max(series.statedAt, newest)
      present.add(series)
    }
    for (const series of this.#all()) {
      const isCounted = series.counted !== undefined && now - series.counted.at <= RATE_WITHIN
      if (!present.has(series) && series.parts.length === 0 && !isCounted) this.#remove(series)
    }
  }

  /** Takes the results that state no more than a known duration, as most do. Gives the others. */
  takeDurations(results: MeasuredResults): MeasuredResults["events"] {
    const now = millisOf(results.received_at)
    const checks = this.#checks.get(results.registration_id)
    return results.events.filter(({ check_id, duration_ms, event_id, observed_at, output }) => {
      const series = output?.includes("|") ? undefined : checks?.get(check_id)?.duration
      if (series === undefined || now - series.statedAt >= DAY) return true
      if (duration_ms > 0 || event_id !== undefined) {
        series.statedAt = Math.max(series.statedAt, now)
        this.#record(series, duration_ms / MILLIS_PER_SECOND, Math.min(millisOf(observed_at), now), now)
      }
      return false
    })
  }

  take(measured: Measured): void {
    if (!("events" in measured)) return this.#end(measured)
    const { agent_id, events, received_at, registration_id } = measured
    const now = millisOf(received_at)
    for (const event of events) {
      const check = { agent_id, registration_id, check_id: event.check_id }
      // A result that waited on its agent counts from its own time, but a clock that is ahead does not.
      const at = Math.min(millisOf(event.observed_at), now)
      // Senders that measure no time have to state 0, and the server states it for others, without an ID.
      const isZeroTime = event.event_id !== undefined && this.#seriesOf(check)?.duration !== undefined
      for (const reading of readingsOf(event, isZeroTime)) {
        const series = this.#admit(check, reading, now)
        const value = series === undefined ? undefined : valueOf(series, reading, at)
        if (series !== undefined && value !== undefined) this.#record(series, value, at, now)
      }
    }
  }

  /** Ends the series of a check that was deleted. */
  #end(check: CheckRef): void {
    for (const part of this.#partsOf(check)) this.#waiting.delete(part)
    for (const series of this.#seriesOf(check)?.values() ?? []) this.#remove(series)
  }

  /** At most `limit` parts with changes that are not written, of one check if it is given. */
  due(limit: number, of?: CheckRef): ReadonlyArray<DuePart> {
    const due: Array<DuePart> = []
    for (const part of of === undefined ? this.#waiting : this.#partsOf(of)) {
      if (due.length === limit) break
      if (part.changes > 0) due.push(this.#dueOf(part))
    }
    return due
  }

  /** Forgets what will hardly change again. Returns how many parts could not be written in time, and are lost. */
  forget(now: number): number {
    let lost = 0
    this.#forgottenAt = Math.max(this.#forgottenAt, now)
    for (const series of this.#all())
      for (const part of series.parts.filter(({ heldUntil }) => heldUntil <= now)) {
        if (this.#waiting.delete(part)) lost += 1
        series.parts.splice(series.parts.indexOf(part), 1)
        if (series.last === part) series.last = undefined
      }
    return lost
  }

  #partsOf(check: CheckRef): ReadonlyArray<Part> {
    return Array.from(this.#seriesOf(check)?.values() ?? []).flatMap(({ parts }) => parts)
  }

  #dueOf(part: Part): DuePart {
    const { changes, recording } = part
    return {
      ...ownOf(part),
      complete: part.isWhole
        ? undefined
        : (stored) => {
            recording.addSpans(stored)
            part.isWhole = true
            return recording.spans
          },
      settle: () => {
        if (part.changes !== changes) return
        part.changes = 0
        this.#waiting.delete(part)
      },
    }
  }

  #seriesOf({ check_id, registration_id }: CheckRef): CheckSeries | undefined {
    return this.#checks.get(registration_id)?.get(check_id)
  }

  #add(ref: SeriesRef): Series {
    // A name that is a part of an output would hold all of it.
    const name = Array.from(ref.name).join("")
    const never = Number.NEGATIVE_INFINITY
    const series = { ...refOf(ref), name, statedAt: never, counted: undefined, parts: [], last: undefined }
    const checks = this.#checks.get(ref.registration_id) ?? new Map<CheckId, CheckSeries>()
    const check = checks.get(ref.check_id) ?? new CheckSeries()
    const key = nameKey(series)
    this.#checks.set(ref.registration_id, checks.set(ref.check_id, check.set(key, series)))
    if (key === DURATION_KEY) check.duration = series
    this.#count += 1
    this.#ofAgents.set(ref.registration_id, (this.#ofAgents.get(ref.registration_id) ?? 0) + 1)
    return series
  }

  #remove(series: Series): void {
    const { check_id, registration_id } = series
    const checks = this.#checks.get(registration_id)
    const check = checks?.get(check_id)
    check?.delete(nameKey(series))
    if (check?.duration === series) check.duration = undefined
    this.#count -= 1
    this.#ofAgents.set(registration_id, (this.#ofAgents.get(registration_id) ?? 0) - 1)
    if (check?.size !== 0) return
    checks?.delete(check_id)
    if (checks?.size !== 0) return
    this.#checks.delete(registration_id)
    this.#ofAgents.delete(registration_id)
  }

  #admit(of: CheckRef, { name, unit }: Reading, now: number): Series | undefined {
    const known = this.#seriesOf(of)?.get(nameKey({ name, unit }))
    if (known !== undefined && now - known.statedAt < DAY) {
      known.statedAt = Math.max(known.statedAt, now)
      return known
    }
    const ref = refOf({ ...of, name, unit })
    const bound = this.#boundOf(known, ref, now)
    if (bound !== undefined) {
      this.#refused(bound, ref)
      return undefined
    }
    const series = known ?? this.#add(ref)
    series.statedAt = now
    return series
  }

  #boundOf(known: Series | undefined, ref: SeriesRef, now: number): SeriesBound | undefined {
    if (known === undefined && this.#count >= this.#most) return "all"
    if (known === undefined && (this.#ofAgents.get(ref.registration_id) ?? 0) >= agentBound(this.#most))
      return "agent"
    const check = this.#seriesOf(ref)
    if (check === undefined || check.size < MOST_OF_CHECK) return undefined
    const present = Array.from(check.values()).filter(({ statedAt }) => now - statedAt < DAY)
    return present.length < MOST_OF_CHECK ? undefined : "check"
  }

  #record(series: Series, value: number, at: number, now: number): void {
    const part = isNow(series.last, at, now) ? series.last : this.#partAt(series, at, now)
    const place = (at - part.start) / PART_KINDS[part.kind].span
    const whole = Math.floor(place)
    part.recording.add(whole, value, place - whole)
    part.changes += 1
    if (part.changes > 1) return
    part.heldUntil = Math.max(part.heldUntil, now + WRITTEN_WITHIN)
    this.#waiting.add(part)
  }

  #partAt(series: Series, at: number, now: number): Part {
    const kind = at < now - HOURS_KEPT ? "late" : "hour"
    const start = startOf(kind, at)
    const part = series.parts.find((one) => one.start === start && one.kind === kind)
    series.last = part ?? this.#begin(series, kind, start, now)
    return series.last
  }

  #begin(series: Series, kind: PartKind, start: number, now: number): Part {
    const heldUntil = kind === "hour" ? start + HELD : now
    const recording = new Recording(placesOf(kind))
    const isWhole = heldUntil > Math.max(now, this.#forgottenAt)
    const part = { series, kind, start, recording, isWhole, changes: 0, heldUntil }
    series.parts.push(part)
    return part
  }

  *#all(): Generator<Series> {
    for (const checks of this.#checks.values()) for (const check of checks.values()) yield* check.values()
  }
}

const refOf = ({ agent_id, check_id, name, registration_id, unit }: SeriesRef): SeriesRef => ({
  agent_id,
  registration_id,
  check_id,
  name,
  unit,
})

const ownOf = ({ kind, recording, series, start }: Part): NumberPart => ({
  ...refOf(series),
  kind,
  start,
  spans: recording.spans,
})
