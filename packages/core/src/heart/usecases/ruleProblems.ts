import { acknowledgementProblems } from "../acknowledgements/acknowledge.ts"
import { thresholdProblems } from "../liveness/agentStatus.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"

/** The faults of rules that depend on each other, one sentence each. */
export const ruleProblems = (rules: RuleOptions): ReadonlyArray<string> => [
  ...thresholdProblems(rules),
  ...acknowledgementProblems(rules),
]
