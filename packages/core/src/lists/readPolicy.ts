import { pageProblems } from "../features/publicPages/pageProblems.ts"
import { pushProblems } from "../features/push/pushProblems.ts"
import { type PolicyCheck, readPolicyBy } from "../heart/policy/readPolicy.ts"

const CHECKS = [pageProblems, pushProblems] satisfies ReadonlyArray<PolicyCheck>

/** Reads a policy by the rules of the heart and of all features: see {@link readPolicyBy}. */
export const readPolicy = readPolicyBy(CHECKS)
