import type { Instant } from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { rotaWarnings } from "../features/onCall/rotaWarnings.ts"
import { callWarnings } from "../features/phones/callWarnings.ts"
import { receiverWarnings } from "../features/receivers/receiverWarnings.ts"
import {
  daysWarnings,
  matcherWarnings,
  overWarnings,
  severityWarnings,
  stepWarnings,
  timeWarnings,
} from "../heart/policy/policyWarnings.ts"
import type { Problems } from "../heart/policy/problemsAt.ts"
import type { PolicyCheck } from "../heart/policy/readPolicy.ts"

/** In the order in which people read them. */
const CHECKS = [
  receiverWarnings,
  callWarnings,
  matcherWarnings,
  rotaWarnings,
  severityWarnings,
  stepWarnings,
  timeWarnings,
  daysWarnings,
] satisfies ReadonlyArray<PolicyCheck>

/** Parts of a policy that are valid, and that few people mean. */
export const policyWarnings = (policy: PolicyDocument, now: Instant): Problems => [
  ...CHECKS.flatMap((check) => check(policy)),
  ...overWarnings(policy, now),
]
