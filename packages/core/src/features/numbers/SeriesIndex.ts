import type { CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import { nameKey } from "./NumberPart.ts"
import type { SeriesRef } from "../../kernel/ports/NumberStorage.ts"
import { DURATION } from "./readings.ts"
import type { Series } from "./Series.ts"

export const DURATION_KEY = nameKey(DURATION)

/** The series of an agent. */
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
