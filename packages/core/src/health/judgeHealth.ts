import { type HealthCondition, HealthConditions } from "./HealthConditions.ts"
import type { HealthFacts } from "./HealthFacts.ts"

/** A condition that does not hold. */
export interface Fault {
  readonly name: (typeof HealthConditions)[number]["name"]
  /** What is wrong, to be told to anybody. */
  readonly text: string
}

/** Whether the service is well: whoever has told it to stop knows, so that while it stops it is neither. */
export type Health =
  | { readonly state: "stopping" }
  | { readonly state: "well" }
  | { readonly state: "unwell"; readonly faults: readonly [Fault, ...ReadonlyArray<Fault>] }

/** Judges what is known by {@link HealthConditions}. */
export const judgeHealth = (facts: HealthFacts): Health => {
  if (facts.isStopping) return { state: "stopping" }
  const conditions: ReadonlyArray<HealthCondition & Pick<Fault, "name">> = HealthConditions
  const [first, ...others] = conditions.flatMap(({ name, faultOf }) => {
    const text = faultOf(facts)
    return text === undefined ? [] : [{ name, text }]
  })
  return first === undefined ? { state: "well" } : { state: "unwell", faults: [first, ...others] }
}
