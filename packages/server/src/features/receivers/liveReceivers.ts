import * as Instant from "@tocsin/contract/formats/Instant"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { givenReceivers } from "@tocsin/core/heart/replicas/listedReceivers"
import { Effect, Layer } from "effect"
import type { Settings } from "../../settings/Settings.ts"
import { clockLayer, requireStorage } from "../../storage.ts"
import { storageOfCommand } from "../../commands/UseCases.ts"

/** The receivers that modules, or programs, of live servers give on the storage of the settings. */
export const liveReceivers = (settings: Settings) =>
  Effect.andThen(
    requireStorage(settings),
    Effect.provide(
      Effect.gen(function* () {
        const { replicas } = yield* Storage
        return givenReceivers(yield* replicas, yield* Instant.now)
      }),
      Layer.merge(storageOfCommand(settings), clockLayer(settings)),
    ),
  )
