import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { Context, Effect, Layer } from "effect"
import { firstRows } from "../../kernel/engine/lists/readPage.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"
import { policyHash } from "../policy/applyPolicy.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { isFollowing } from "../replicas/reportReplica.ts"

/**
 * Finds since when a policy is in force, where the last one that came is this one and a replica follows it: a restart,
 * or the same file read again, is no change (docs/rules.md#steps).
 */
export class Recollection extends Context.Service<Recollection>()(
  "@tocsin/core/heart/usecases/Recollection",
  {
    make: Effect.gen(function* () {
      const storage = yield* Storage
      const hashing = yield* Hashing
      const { wasFollowed } = yield* PolicyInForce
      let known: PolicyDocument | undefined
      return {
        recollect: Effect.fnUntraced(function* (
          { document }: Policy,
          replicas: ReadonlyArray<ReplicaRecord>,
        ) {
          if (known === document) return
          const hash = policyHash(document, hashing)
          if (!replicas.some((replica) => isFollowing(replica, hash))) return
          const query = { list: "audit", filter: { action: "policy.replaced" }, sort: "recorded_at" } as const
          const [row] = yield* firstRows(storage, { ...query, direction: "desc" }, 1)
          if (row?.subjects.some(({ id }) => id === hash) === true) wasFollowed(document, row.recorded_at)
          known = document
        }),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(Recollection, Recollection.make)
}
