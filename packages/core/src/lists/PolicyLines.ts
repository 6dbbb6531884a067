import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { Context, Effect, Layer } from "effect"
import { listLines } from "../features/publicPages/lineChecks.ts"
import { placeWarnings } from "../features/watches/placeWarnings.ts"
import { operationPorts } from "../heart/usecases/operationPorts.ts"
import type { Commits } from "../kernel/engine/commits/Commits.ts"
import type { Storage } from "../kernel/ports/Storage.ts"

/** Lists the checks of the lines of public pages under a policy, with warnings by what is stored. */
export const listLinesUnder =
  (
    storage: Storage["Service"],
    commits: Pick<Commits["Service"], "transact">,
    sha256: (text: string) => string,
  ) =>
  (document: PolicyDocument) =>
    Effect.zipWith(
      listLines(storage, sha256, document),
      placeWarnings(commits, document),
      (listed, warnings) => ({ ...listed, warnings: [...listed.warnings, ...warnings] }),
    )

/** The stored checks that a policy would show. */
export class PolicyLines extends Context.Service<PolicyLines>()("@tocsin/core/lists/PolicyLines", {
  make: Effect.map(operationPorts, ({ commits, sha256, storage }) => ({
    lines: listLinesUnder(storage, commits, sha256),
  })),
}) {
  static readonly layer = Layer.effect(PolicyLines, PolicyLines.make)
}
