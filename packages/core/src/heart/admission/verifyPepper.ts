import { Effect, Schema } from "effect"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"

/** The pepper differs from the one used for the stored key hashes (docs/rules.md#what-is-stored-of-a-key). */
export class PepperChanged extends Schema.TaggedError<PepperChanged>()("PepperChanged", {
  message: Schema.String,
}) {}

/** Fails if the pepper has changed since the storage's first start: no agent key would match. */
export const verifyPepper: Effect.Effect<void, PepperChanged | StorageError, Storage | Hashing> = Effect.gen(
  function* () {
    const storage = yield* Storage
    const { pepperCheck } = yield* Hashing
    const kept = yield* storage.establish("pepper_check", pepperCheck)
    if (kept === pepperCheck) return
    return yield* new PepperChanged({
      message:
        "SERVICE_KEY_PEPPER differs from the value this storage was first used with, so no agent key would match; set the original value (or unset it if there was none)",
    })
  },
)
