import { Effect, Schema } from "effect"
import { Hashing } from "../ports/Hashing.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"

/** The pepper is another than the one that the stored key hashes were made with (docs/rules.md#what-is-stored-of-a-key). */
export class PepperChanged extends Schema.TaggedError<PepperChanged>()("PepperChanged", {
  message: Schema.String,
}) {}

/** Refuses a start with another pepper than that of the storage's first start: every agent key would be unknown. */
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
