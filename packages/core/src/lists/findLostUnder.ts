import { Effect } from "effect"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { findLostOverrides } from "../features/onCall/overrideDecisions.ts"
import { listLines } from "../features/publicPages/lineChecks.ts"
import { findUnknownOperators } from "../features/push/findBrowsers.ts"
import { placeWarnings } from "../features/watches/placeWarnings.ts"
import { findLost } from "../heart/usecases/applyingPolicies.ts"
import type { Commits } from "../kernel/engine/commits/Commits.ts"
import type { Storage } from "../kernel/ports/Storage.ts"

type Transacting = Pick<Commits["Service"], "transact">

/** Warnings of changes under a policy, with those of features, for a process without the use cases. */
export const findLostUnder = (storage: Storage["Service"], commits: Transacting) =>
  findLost(storage, commits, findLostOverrides, findUnknownOperators(storage))

/** Lists the checks of the lines of public pages under a policy, with warnings by what is stored. */
export const listLinesUnder =
  (storage: Storage["Service"], commits: Transacting, sha256: (text: string) => string) =>
  (document: PolicyDocument) =>
    Effect.zipWith(
      listLines(storage, sha256, document),
      placeWarnings(commits, document),
      (listed, warnings) => ({ ...listed, warnings: [...listed.warnings, ...warnings] }),
    )
