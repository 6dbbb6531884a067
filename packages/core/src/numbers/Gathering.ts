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
import { OpenSpans } from "./OpenSpans.ts"
import { DURATION, MILLIS_PER_SECOND, type Reading, readingsOf } from "./readings.ts"
import { Recording } from "./Recording.ts"
import { type Part, RATE_WITHIN, type Series, valueOf } from "./Series.ts"
import { spanOf, type Spans } from "./Span.ts"

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

/** The series of an agent. */
interface AgentSeries {
  /** By check and {@link nameKey}. */
  readonly checks: Map<CheckId, Map<string, Series>>
  /** Those that most results state, by check: they are found by one look-up. */
  readonly durations: Map<CheckId, Series>
  count: number
}

/** Milliseconds since 1970, without the cost of dividing a bigint: doubles have those of 280 years. */
const millisOf = (instant: Instant): number => Math.floor(Number(instant) / 1_000)

/** The numbers that a server has not yet stored, in memory (docs/rules.md#numbers). It does no I/O. */
export class Gathering {
  readonly #most: number
  readonly #refused: (bound: SeriesBound, series: SeriesRef) => void
  readonly #agents = new Map<RegistrationId, AgentSeries>()
  readonly #waiting = new Set<Part>()
  readonly #open = new OpenSpans()
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
      this.#open.state(series.row, newest)
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
    const durations = this.#agents.get(results.registration_id)?.durations
    return results.events.filter(({ check_id, duration_ms, event_id, observed_at, output }) => {
      const series = output?.includes("|") ? undefined : durations?.get(check_id)
      if (series === undefined || now - this.#open.statedAt(series.row) >= DAY) return true
      if (duration_ms > 0 || event_id !== undefined) {
        this.#open.state(series.row, now)
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
      const isZeroTime = event.event_id !== undefined && this.#seriesOf(check)?.has(DURATION_KEY) === true
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
        if (series.open === part) this.#close(series)
      }
    return lost
  }

  #partsOf(check: CheckRef): ReadonlyArray<Part> {
    return Array.from(this.#seriesOf(check)?.values() ?? []).flatMap(({ parts }) => parts)
  }

  #dueOf(part: Part): DuePart {
    if (part.series.open === part) this.#close(part.series)
    const { changes, recording } = part
    return {
      ...ownOf(part),
      complete: part.isWhole
        ? undefined
        : (stored) => {
            recording.addStored(stored)
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

  #seriesOf({ check_id, registration_id }: CheckRef): Map<string, Series> | undefined {
    return this.#agents.get(registration_id)?.checks.get(check_id)
  }

  #add(ref: SeriesRef): Series {
    // A name that is a part of an output would hold all of it.
    const name = Array.from(ref.name).join("")
    const row = this.#open.add()
    const series = { ref: { ...ref, name }, row, counted: undefined, parts: [], open: undefined }
    const { check_id, registration_id } = ref
    const agent = this.#agents.get(registration_id) ?? { checks: new Map(), durations: new Map(), count: 0 }
    const check = agent.checks.get(check_id) ?? new Map<string, Series>()
    const key = nameKey(series.ref)
    this.#agents.set(registration_id, agent)
    agent.checks.set(check_id, check.set(key, series))
    if (key === DURATION_KEY) agent.durations.set(check_id, series)
    agent.count += 1
    this.#count += 1
    return series
  }

  #remove(series: Series): void {
    const { check_id, registration_id } = series.ref
    const agent = this.#agents.get(registration_id)
    const check = agent?.checks.get(check_id)
    if (agent === undefined || check === undefined) return
    check.delete(nameKey(series.ref))
    if (agent.durations.get(check_id) === series) agent.durations.delete(check_id)
    if (check.size === 0) agent.checks.delete(check_id)
    this.#open.remove(series.row)
    this.#count -= 1
    agent.count -= 1
    if (agent.count === 0) this.#agents.delete(registration_id)
  }

  #admit(of: CheckRef, { name, unit }: Reading, now: number): Series | undefined {
    const known = this.#seriesOf(of)?.get(nameKey({ name, unit }))
    if (known !== undefined && now - this.#open.statedAt(known.row) < DAY) {
      this.#open.state(known.row, now)
      return known
    }
    const ref = { ...of, name, unit }
    const bound = this.#boundOf(known, ref, now)
    if (bound !== undefined) {
      this.#refused(bound, ref)
      return undefined
    }
    const series = known ?? this.#add(ref)
    this.#open.state(series.row, now)
    return series
  }

  #boundOf(known: Series | undefined, ref: SeriesRef, now: number): SeriesBound | undefined {
    if (known === undefined && this.#count >= this.#most) return "all"
    if (known === undefined && (this.#agents.get(ref.registration_id)?.count ?? 0) >= agentBound(this.#most))
      return "agent"
    const check = this.#seriesOf(ref)
    if (check === undefined || check.size < MOST_OF_CHECK) return undefined
    const present = Array.from(check.values()).filter(({ row }) => now - this.#open.statedAt(row) < DAY)
    return present.length < MOST_OF_CHECK ? undefined : "check"
  }

  #record(series: Series, value: number, at: number, now: number): void {
    if (at >= now - HOURS_KEPT && this.#open.record(series.row, value, at)) return
    const part = this.#partAt(series, at, now)
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

  #partAt(series: Series, at: number, now: number): Part {
    const kind = at < now - HOURS_KEPT ? "late" : "hour"
    const start = startOf(kind, at)
    const part = series.parts.find((one) => one.start === start && one.kind === kind)
    return part ?? this.#begin(series, kind, start, now)
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
    for (const { checks } of this.#agents.values()) for (const check of checks.values()) yield* check.values()
  }
}

const ownOf = ({ kind, recording, series, start }: Part): NumberPart => ({
  ...series.ref,
  kind,
  start,
  spans: recording.spans,
})
