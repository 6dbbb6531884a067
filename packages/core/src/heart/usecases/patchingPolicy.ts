import { Effect } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PatchedPolicy } from "@tocsin/contract/policy/Policies"
import type { PolicyPatch } from "@tocsin/contract/policy/PolicyPatch"
import { AnotherPolicy, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { Ids } from "../../kernel/ports/Ids.ts"
import { currentSignature } from "../audit/recordAudit.ts"
import { PolicySource } from "./PolicySource.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { policyHash } from "../policy/applyPolicy.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { ANOTHER, type Application, type StorePolicy } from "./applyingPolicies.ts"
import { invalidPolicy, NO_RULES } from "./followStoredPolicy.ts"

/** Returns functions that make changes in the text of the stored policy (docs/rules.md#a-stored-policy). */
export const patchingPolicy = Effect.fnUntraced(function* ({
  plainSecrets,
  store,
}: Pick<StorePolicy, "plainSecrets" | "store">) {
  const inForce = yield* PolicyInForce
  const source = yield* PolicySource
  const storage = yield* Storage
  const ids = yield* Ids
  const hashing = yield* Hashing
  const none = policyHash({}, hashing)
  const patch = Effect.fnUntraced(function* (operations: PolicyPatch, replaces: string) {
    if (source.source === "given") return yield* new StateConflict({ message: source.advice })
    const [newest] = yield* storage.policyVersions(0, 1)
    const { hash, text, version } = newest ?? { hash: none, text: "", version: 0 }
    if (replaces !== hash) return yield* new AnotherPolicy({ message: ANOTHER })
    const patched = yield* Effect.mapError(
      source.patch(text, operations, inForce.elsewhere()),
      ({ isConflict, message }) =>
        isConflict ? new StateConflict({ message }) : new ValidationError({ message }),
    )
    return { ...patched, text: patched.text === "" ? `${NO_RULES}\n` : patched.text, of: version }
  })
  return {
    /** Stores the policy with changes made in its text, all or none, like `apply`. */
    patch: Effect.fn("Policies.patch")(function* (
      operations: PolicyPatch,
      application: Application & { readonly replaces: string },
    ) {
      const { document, issues, of, text } = yield* patch(operations, application.replaces)
      if (document === undefined) return yield* invalidPolicy(issues)
      // Without a version, no change is none either.
      if (of === 0 && policyHash(document, hashing) === none) {
        const { actor: applied_by } = yield* currentSignature(ids)
        return { version: of, hash: none, text, applied_at: yield* Instant.now, applied_by, firings: [] }
      }
      return yield* store({ document, text }, { ...application, of })
    }),
    /** The text with changes made, and its problems; stores nothing. */
    tryPatch: Effect.fn("Policies.tryPatch")(function* (operations: PolicyPatch, replaces: string) {
      const { document, issues, text } = yield* patch(operations, replaces)
      const exposed = document === undefined ? [] : yield* plainSecrets.issues(document)
      return { text, issues: [...issues, ...exposed] } satisfies PatchedPolicy
    }),
  }
})
