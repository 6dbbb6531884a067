import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { at, problemIf, type Problems } from "../../heart/policy/problemsAt.ts"
import { browserReceivers } from "./findBrowsers.ts"

const NO_SECRET = "must be absent: browsers of an operator have no secret"

/** Faults of receivers that are browsers (docs/rules.md#browsers). */
export const pushProblems = (policy: PolicyDocument): Problems => {
  const named = browserReceivers(policy)
  return named.flatMap(([name, operator], n) => {
    const before = named.slice(0, n).find(([, other]) => other === operator)?.[0]
    const hasSecrets = Object.hasOwn(policy.receivers?.[name] ?? {}, "secrets")
    return at(
      [
        ...problemIf(
          before !== undefined,
          `names the operator of ${before}, which reaches all of their browsers: remove one of the two`,
          "operator",
        ),
        ...problemIf(hasSecrets, NO_SECRET, "secrets"),
      ],
      "receivers",
      name,
    )
  })
}
