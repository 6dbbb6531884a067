import { Context, Effect, Layer } from "effect"
import { type Signature, systemSignature } from "../audit/Signature.ts"
import type { AuditId } from "@tocsin/contract/Audit"
import * as Instant from "@tocsin/contract/Instant"
import { Commits } from "../engine/commits/Commits.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { isEmptyPolicy, type PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { policyHash } from "../policy/applyPolicy.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids, newId } from "../ports/Ids.ts"
import { WatchProbes } from "../ports/WatchProbes.ts"
import type { StorageError } from "../ports/Storage.ts"
import { endReplica, reportReplica } from "../replicas/replicaDecisions.ts"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"

/** The version that this process reports; a host program's own is not known here. */
export const ReplicaVersion = Context.Reference<string>("@tocsin/core/usecases/ReplicaVersion", {
  defaultValue: () => "embedded",
})

/** The row of this process among the replicas (docs/rules.md#replicas). */
export class ReplicaIdentity extends Context.Service<
  ReplicaIdentity,
  {
    /** Reports this process with a policy; the signature is `system` unless given. Returns all replicas. */
    readonly report: (
      policy: Policy,
      signature?: Signature,
    ) => Effect.Effect<ReadonlyArray<ReplicaRecord>, StorageError>
    readonly id: string
    /** Reports that it shuts down. */
    readonly end: Effect.Effect<void, StorageError>
  }
>()("@tocsin/core/usecases/ReplicaIdentity") {
  static readonly layer: Layer.Layer<ReplicaIdentity, never, Commits | Ids | Hashing> = Layer.effect(
    ReplicaIdentity,
    Effect.gen(function* () {
      const { transact } = yield* Commits
      const hashing = yield* Hashing
      const ids = yield* Ids
      const version = yield* ReplicaVersion
      const started_at = yield* Instant.now
      const id = ids.uuidV7(started_at)
      const system = systemSignature(newId<AuditId>(ids))
      // Hashing a large policy takes milliseconds.
      let hashed: { readonly document: PolicyDocument; readonly policy_hash: string } | undefined
      const probes = (yield* WatchProbes) !== undefined
      return ReplicaIdentity.of({
        id,
        report: ({ document, receivers: all, unavailable }, signature = system) =>
          Effect.suspend(() => {
            if (hashed?.document !== document)
              hashed = { document, policy_hash: policyHash(document, hashing) }
            const { policy_hash } = hashed
            const receivers = Array.from(all.keys())
            const report = { id, version, policy_hash, probes, started_at, receivers, unavailable }
            return transact(reportReplica({ ...report, isEmptyPolicy: isEmptyPolicy(document) }, signature))
          }),
        end: transact(endReplica(id)),
      })
    }),
  )
}
