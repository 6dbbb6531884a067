import { agentSteps } from "./agentSteps.ts"
import { checkSteps } from "./checkSteps.ts"
import { incidentSteps } from "./incidentSteps.ts"
import type { SeedNames } from "./SeedNames.ts"
import { acceptedAgents, type SeedSize } from "./SeedSize.ts"
import type { SeedStep } from "./SeedStep.ts"

/** All statements of a seeding, in their order. */
export const seedSteps = (names: SeedNames): ReadonlyArray<SeedStep> => [
  ...checkSteps(names),
  ...agentSteps(names),
  ...incidentSteps(names),
]

/** Throws for a size that rows cannot be made for. */
export const assertSize = (size: SeedSize): void => {
  for (const [name, count] of Object.entries(size)) {
    if (!Number.isSafeInteger(count) || count < 1)
      throw new RangeError(`${name}: a number from 1 on, not ${count}`)
  }
  if (size.checks < acceptedAgents(size)) throw new RangeError("checks: at least one for each agent")
  if (size.history < size.checks) throw new RangeError("history: at least one row for each check")
  if (Math.max(...Object.values(size)) > 1e9) throw new RangeError("a number up to 1000000000")
}
