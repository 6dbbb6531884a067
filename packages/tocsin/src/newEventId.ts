import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import * as Instant from "@tocsin/contract/Instant"
import { Ids } from "@tocsin/core/ports/Ids"
import { Effect, ManagedRuntime } from "effect"

const runtime = ManagedRuntime.make(RandomIds.layer)

const next = Effect.gen(function* () {
  return (yield* Ids).uuidV7(yield* Instant.now)
})

/**
 * A new id for a check result: a lower-case UUID version 7. Send the same id when you retry: it
 * identifies a repeated delivery.
 */
export const newEventId = (): string => runtime.runSync(next)
