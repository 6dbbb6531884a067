import { findLostOverrides } from "../features/onCall/overrideDecisions.ts"
import { findUnknownOperators } from "../features/push/findBrowsers.ts"
import { findLost } from "../heart/usecases/applyingPolicies.ts"
import type { Commits } from "../kernel/engine/commits/Commits.ts"
import type { Storage } from "../kernel/ports/Storage.ts"

/** Functions of features that warn of changes under a policy. */
export const findersOfLost = (storage: Storage["Service"]) => ({
  findLostOverrides,
  unknownOperators: findUnknownOperators(storage),
})

/** Warnings of changes under a policy, with those of features, for a process without the use cases. */
export const findLostUnder = (storage: Storage["Service"], commits: Pick<Commits["Service"], "transact">) =>
  findLost(storage, commits, findersOfLost(storage))
