import { Effect } from "effect"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { Ids } from "../../kernel/ports/Ids.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { signing } from "../audit/recordAudit.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import { Receivers } from "../notifications/Receivers.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"

/** The ports of operators' operations, of which each names its part. */
export const operationPorts = Effect.gen(function* () {
  const commits = yield* Commits
  const hashing = yield* Hashing
  const { sha256 } = hashing
  const ids = yield* Ids
  const policy = yield* PolicyInForce
  const receivers = yield* Receivers
  const rules = yield* RuleSettings
  const storage = yield* Storage
  const options = incidentOptions(ids, policy, rules, hashing)
  const signed = signing(commits, ids)
  return { commits, hashing, ids, options, policy, receivers, rules, sha256, signed, storage }
})

export type OperationPorts = Effect.Success<typeof operationPorts>
