import type { Labels } from "@tocsin/contract/Labels"
import { compileMatchers, type MatchedFacts } from "@tocsin/contract/Matcher"
import { type FoundRunbook, RUNBOOK_URL, type Runbook } from "@tocsin/contract/PolicyDocument"

/** Finds the runbook of a failing check: that of its label, or of the first rule that matches (docs/rules.md#runbooks). */
export type FindRunbook = (facts: MatchedFacts, ofCheck: Labels | undefined) => FoundRunbook | undefined

/** Compiles the runbooks of a policy. */
export const compileRunbooks = (rules: ReadonlyArray<Runbook>): FindRunbook => {
  const compiled = rules.map(({ match, ...runbook }) => ({ runbook, matches: compileMatchers(match) }))
  return (facts, ofCheck) => {
    const url = ofCheck && Object.hasOwn(ofCheck, "runbook_url") ? ofCheck["runbook_url"] : undefined
    // An agent may write any text into a label.
    if (url !== undefined && RUNBOOK_URL.test(url)) return { url }
    return compiled.find(({ matches }) => matches(facts))?.runbook
  }
}
