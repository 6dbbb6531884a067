import { type WellnessCondition, WellnessConditions } from "./WellnessConditions.ts"
import type { WellnessFacts } from "./WellnessFacts.ts"

/** A condition that does not hold. */
export interface Fault {
  readonly name: (typeof WellnessConditions)[number]["name"]
  /** What is wrong, to be told to anybody. */
  readonly text: string
}

/** Whether the service is well: whoever has told it to stop knows, so that while it stops it is neither. */
export type Wellness =
  | { readonly state: "stopping" }
  | { readonly state: "well" }
  | { readonly state: "unwell"; readonly faults: readonly [Fault, ...ReadonlyArray<Fault>] }

/** Judges what is known by {@link WellnessConditions}. */
export const judgeWellness = (facts: WellnessFacts): Wellness => {
  if (facts.isStopping) return { state: "stopping" }
  const conditions: ReadonlyArray<WellnessCondition & Pick<Fault, "name">> = WellnessConditions
  const [first, ...others] = conditions.flatMap(({ name, faultOf }) => {
    const text = faultOf(facts)
    return text === undefined ? [] : [{ name, text }]
  })
  return first === undefined ? { state: "well" } : { state: "unwell", faults: [first, ...others] }
}
