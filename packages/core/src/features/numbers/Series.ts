import { nameKey, PART_KINDS } from "./NumberPart.ts"
import type { PartKind, SeriesRef } from "../../kernel/ports/NumberStorage.ts"
import { DURATION, type Reading } from "./readings.ts"
import type { Recording } from "./Recording.ts"
import type { CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"

/** A counter's rate since an earlier value is none. */
export const RATE_WITHIN = PART_KINDS.hour.length

/** A series in the memory of a server. */
export interface Series {
  readonly ref: SeriesRef
  /** Its row among the open spans. */
  readonly row: number
  counted: { readonly value: number; readonly at: number } | undefined
  readonly parts: Array<Part>
  /** The part that its open span is in. */
  open: Part | undefined
}

/** An hour or a day of a series, which grows. */
export interface Part {
  readonly series: Series
  readonly kind: PartKind
  readonly start: number
  /** When its first value was taken. */
  readonly since: number
  readonly recording: Recording
  /** Whether its hour was over when it began: it leaves the memory once it is written. */
  readonly isOld: boolean
  /** Whether the recording has what this server stored of it before. */
  isWhole: boolean
  /** How often a span of it was opened, or a value added, since all of it was written. */
  changes: number
  /** How many of its values are stored. */
  written: number
  /** When it leaves the memory, written or not. */
  heldUntil: number
}

/** A value of a series; of a counter its rate, and none without an earlier, smaller value. */
export const valueOf = (
  series: Series,
  { isCounter, value }: Reading,
  { at, now }: { readonly at: number; readonly now: number },
): number | undefined => {
  if (!isCounter) return value
  // One after now was taken while the clock was ahead: it is none.
  const before = series.counted !== undefined && series.counted.at > now ? undefined : series.counted
  if (before !== undefined && at <= before.at) return undefined
  series.counted = { value, at }
  if (before === undefined || value < before.value || at - before.at > RATE_WITHIN) return undefined
  const rate = (value - before.value) / ((at - before.at) / 1_000)
  return Number.isFinite(rate) ? rate : undefined
}

export const DURATION_KEY = nameKey(DURATION)

interface AgentSeries {
  /** By check and {@link nameKey}. */
  readonly checks: Map<CheckId, Map<string, Series>>
  /** Those that most results state, by check: they are found by one look-up. */
  readonly durations: Map<CheckId, Series>
  count: number
}

/** The series in the memory of a server, by agent and check. */
export class SeriesIndex {
  readonly #agents = new Map<RegistrationId, AgentSeries>()
  #count = 0

  get count(): number {
    return this.#count
  }

  countOf({ registration_id }: Pick<SeriesRef, "registration_id">): number {
    return this.#agents.get(registration_id)?.count ?? 0
  }

  of({ check_id, registration_id }: CheckRef): Map<string, Series> | undefined {
    return this.#agents.get(registration_id)?.checks.get(check_id)
  }

  durationsOf(registrationId: RegistrationId): ReadonlyMap<CheckId, Series> | undefined {
    return this.#agents.get(registrationId)?.durations
  }

  add(series: Series): void {
    const { check_id, registration_id } = series.ref
    const agent = this.#agents.get(registration_id) ?? { checks: new Map(), durations: new Map(), count: 0 }
    const check = agent.checks.get(check_id) ?? new Map<string, Series>()
    const key = nameKey(series.ref)
    this.#agents.set(registration_id, agent)
    agent.checks.set(check_id, check.set(key, series))
    if (key === DURATION_KEY) agent.durations.set(check_id, series)
    agent.count += 1
    this.#count += 1
  }

  remove(series: Series): void {
    const { check_id, registration_id } = series.ref
    const agent = this.#agents.get(registration_id)
    const check = agent?.checks.get(check_id)
    if (agent === undefined || check === undefined || !check.delete(nameKey(series.ref))) return
    if (agent.durations.get(check_id) === series) agent.durations.delete(check_id)
    if (check.size === 0) agent.checks.delete(check_id)
    this.#count -= 1
    agent.count -= 1
    if (agent.count === 0) this.#agents.delete(registration_id)
  }

  *all(): Generator<Series> {
    for (const { checks } of this.#agents.values()) for (const check of checks.values()) yield* check.values()
  }
}
