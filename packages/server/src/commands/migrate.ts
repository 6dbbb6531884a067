import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { placeOfSettings } from "../copy/StoragePlace.ts"
import { writeResult } from "../output/Output.ts"
import { ensureDataDirectory, storageLayer, storageName } from "../storage.ts"
import * as flags from "./flags.ts"
import { commandLogging, settingsOfCommand } from "./UseCases.ts"

/** `tocsin migrate` */
export const migrate = Command.make(
  "migrate",
  { json: flags.json },
  Effect.fnUntraced(function* ({ json }) {
    const settings = yield* settingsOfCommand
    if (settings.DATABASE_URL === undefined) yield* ensureDataDirectory(settings.SERVICE_DATA_DIR)
    const appliedNow = Effect.suspend(() => {
      const place = placeOfSettings(settings)
      return place === undefined ? Effect.succeed(0) : Effect.map(place.state, ({ applied }) => applied)
    })
    const from = yield* appliedNow
    // Opening a storage migrates it in one transaction; other starts wait for it.
    yield* Effect.scoped(Layer.build(storageLayer(settings))).pipe(Effect.provide(commandLogging(settings)))
    const to = yield* appliedNow
    const name = storageName(settings)
    yield* writeResult(json, { from, to }, () =>
      from === to
        ? `${name} is at schema ${to}, which is current: nothing to do\n`
        : `${name} was migrated from schema ${from} to ${to}\n`,
    )
  }),
).pipe(
  Command.withDescription(
    "Create the storage's schema or bring it up to date, as a start of the server does",
  ),
)
