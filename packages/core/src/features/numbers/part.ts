import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import type { ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import type { RetentionOptions } from "../../kernel/engine/commits/retentionChores.ts"
import { numbersChores } from "./expireNumbers.ts"
import { NumberMemory } from "./NumberMemory.ts"
import { numbersMetrics } from "./numbersMetrics.ts"
import { recordNumbers } from "./recordNumbers.ts"

/** The part of numbers in the core. */
export const numbers = {
  beneath: NumberMemory.layer,
  follows: recordNumbers,
  chores: (services: ChoreServices, _: IncidentOptions, retention: RetentionOptions) =>
    numbersChores(services, retention),
  metrics: ["Requests and ingestion", numbersMetrics] as const,
}
