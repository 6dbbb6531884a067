import type { AvailabilityPhase } from "@tocsin/contract/availability/Availability"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { LINE_STATES, type LineState } from "@tocsin/contract/publicPages/PublicPages"
import type { Span } from "../../heart/availability/availability.ts"
import type { StatePhase } from "./lineStates.ts"

export interface FoldedDay {
  /** The worst state of the day, and how long it lasted in all. */
  readonly state: LineState
  readonly seconds: number
  /** The seconds in which at least one check was neither planned nor without data; of them, those in which all such were ok. */
  readonly judged: number
  readonly ok: number
}

const secondOf = (at: Instant.Instant): number => Number(at / 1_000_000n)
const rankOf = (state: LineState): number => LINE_STATES.indexOf(state)
const WITHOUT_DATA = rankOf("no_data")

/** How a check counts for the availability. */
const [NOT_JUDGED, OK, NOT_OK] = [0, 1, 2]
const judgementOf = ({ state }: AvailabilityPhase): number =>
  state === "planned" || state === "no_data" ? NOT_JUDGED : state === "ok" ? OK : NOT_OK

interface Change {
  readonly second: number
  readonly check: number
  readonly of: "rank" | "judgement"
  readonly to: number
}

/** How many checks have each value. */
class Counts {
  readonly #values: Array<number>
  readonly #counts: Array<number>

  constructor(checks: number, value: number, values: number) {
    this.#values = Array.from({ length: checks }, () => value)
    this.#counts = Array.from({ length: values }, (_, each) => (each === value ? checks : 0))
  }

  set(check: number, value: number): void {
    const former = this.#values[check] ?? value
    this.#counts[former] = this.of(former) - 1
    this.#counts[value] = this.of(value) + 1
    this.#values[check] = value
  }

  of(value: number): number {
    return this.#counts[value] ?? 0
  }

  /** The least value that a check has. */
  least(): number {
    return this.#counts.findIndex((count) => count > 0)
  }
}

/** Gathers the phases of the checks of a line, one check after another, and sums them up by days. */
export class LineFold {
  readonly #changes: Array<Change> = []
  #checks = 0

  /** Adds a check: its states on the page, and its phases, both of the same span. */
  add(states: ReadonlyArray<StatePhase>, phases: ReadonlyArray<AvailabilityPhase>): void {
    const check = this.#checks
    this.#checks += 1
    for (const { from, state } of states)
      this.#changes.push({ second: secondOf(from), check, of: "rank", to: rankOf(state) })
    for (const phase of phases)
      this.#changes.push({ second: secondOf(phase.from), check, of: "judgement", to: judgementOf(phase) })
  }

  /** These spans, which follow each other in order; none ends after the phases. */
  *days(spans: ReadonlyArray<Span>): Generator<void, ReadonlyArray<FoldedDay>> {
    const changes = this.#changes.toSorted((a, b) => a.second - b.second)
    const ranks = new Counts(this.#checks, WITHOUT_DATA, LINE_STATES.length)
    const judgements = new Counts(this.#checks, NOT_JUDGED, 3)
    let next = 0
    const applyUntil = (second: number): void => {
      for (;;) {
        const change = changes[next]
        if (change === undefined || change.second > second) return
        ;(change.of === "rank" ? ranks : judgements).set(change.check, change.to)
        next += 1
      }
    }
    const days: Array<FoldedDay> = []
    for (const { from, to } of spans) {
      const end = secondOf(to)
      const lasted = LINE_STATES.map(() => 0)
      let [judged, ok] = [0, 0]
      for (let at = secondOf(from); at < end;) {
        applyUntil(at)
        const seconds = Math.min(end, changes[next]?.second ?? end) - at
        const rank = this.#checks === 0 ? WITHOUT_DATA : ranks.least()
        lasted[rank] = (lasted[rank] ?? 0) + seconds
        if (judgements.of(OK) + judgements.of(NOT_OK) > 0) judged += seconds
        if (judgements.of(OK) > 0 && judgements.of(NOT_OK) === 0) ok += seconds
        at += seconds
      }
      const worst = lasted.findIndex((seconds) => seconds > 0)
      days.push({ state: LINE_STATES[worst] ?? "no_data", seconds: lasted[worst] ?? 0, judged, ok })
      yield
    }
    return days
  }
}

const FIELDS = 4

/** Days of a line, 16 bytes each: a day more takes the place of the oldest. */
export class KeptDays {
  readonly #fields: Uint32Array
  readonly #count: number

  constructor(count: number) {
    this.#count = count
    this.#fields = new Uint32Array(count * FIELDS)
  }

  /** A day by its number since 1970. */
  get(day: number): FoldedDay | undefined {
    const place = (day % this.#count) * FIELDS
    const [number, lasted = 0, judged = 0, ok = 0] = this.#fields.subarray(place, place + FIELDS)
    // A day of at most 25 hours has less than 2^17 seconds.
    const state = LINE_STATES[lasted >>> 17]
    return number === day && state !== undefined
      ? { state, seconds: lasted & 0x1_ffff, judged, ok }
      : undefined
  }

  set(day: number, { judged, ok, seconds, state }: FoldedDay): void {
    this.#fields.set([day, (rankOf(state) << 17) | seconds, judged, ok], (day % this.#count) * FIELDS)
  }
}
