import type { Duration } from "effect"
import type { IncidentKey } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { RowRequest } from "@tocsin/core/engine/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import type { IncidentKind, IncidentRecord } from "@tocsin/core/model/IncidentRecord"

/**
 * When the incidents of each key were opened, for as long as a policy counts them. The incidents
 * themselves are gone once they have resolved.
 */
export class KeyOpenings {
  readonly #within: Duration.Duration
  /** The latest last. */
  readonly #openings: Readonly<Record<IncidentKind, Map<IncidentKey, ReadonlyArray<Instant.Instant>>>> = {
    automatic: new Map(),
    named: new Map(),
  }

  constructor(within: Duration.Duration) {
    this.#within = within
  }

  /** Takes an incident that was opened. */
  note({ incident_key, kind, opened_at }: IncidentRecord): void {
    const known = this.#openings[kind].get(incident_key) ?? []
    const since = Instant.minus(opened_at, this.#within)
    this.#openings[kind].set(incident_key, [...known.filter((at) => at > since), opened_at])
  }

  /** Answers a search for openings. */
  find({ searchResults: found }: UnitOfWork, asked: NonNullable<RowRequest["openings"]>): void {
    found.openings = new Map(
      asked.map(({ incident: { id, incident_key, kind }, limit, since, until }) => [
        id,
        (this.#openings[kind].get(incident_key) ?? [])
          .filter((at) => at > since && at <= until)
          .slice(-limit)
          .toReversed(),
      ]),
    )
  }
}
