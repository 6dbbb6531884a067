import { type Duration, Result } from "effect"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { declaredTerms } from "../expected.ts"
import { JSON_TEXT, type Kind } from "../Kind.ts"
import { NOT_FOUND } from "../Report.ts"
import { expectsOf } from "./decideMail.ts"

const ANY_CHECK = CheckId.make("check")

/** Why the terms of the option `expect` are none. */
const expectProblem = (options: IntegrationOptions, staleAfter: Duration.Duration): string | undefined => {
  const expects = expectsOf(options)
  if (expects.by !== "terms" || options.expect === undefined) return undefined
  const terms = declaredTerms({ check_id: ANY_CHECK }, expects.terms, { kind: "mail", staleAfter })
  return Result.isFailure(terms) ? `options.expect: ${terms.failure.message}` : undefined
}

/** Mails of devices and programs, which arrive at a listener of their own (docs/rules.md#mail). */
export const mail: Kind = {
  // No method: nothing under /in takes its key.
  protocol: { ...JSON_TEXT, methods: [] },
  translate: () => NOT_FOUND,
  isLimited: true,
  hasRuns: false,
  mostChecks: 10_000,
  options: ["rules", "failed", "recovered", "status", "expect", "resolve_after", "forget_after"],
  hasOwnOptionsAlone: true,
  problemOf: expectProblem,
  paths: () => [],
  addresses: (key, domain) => [`${key}@${domain}`, `${key}+CHECK@${domain}`],
}
