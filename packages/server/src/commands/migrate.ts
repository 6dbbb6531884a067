import * as PgInspection from "@tocsin/adapter-pg/inspection/inspectStorage"
import * as SqliteInspection from "@tocsin/adapter-sqlite/inspection/inspectStorage"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { ensureDataDirectory } from "../dataDirectory.ts"
import { jsonText } from "../output/jsonText.ts"
import { Output } from "../output/Output.ts"
import type { Settings } from "../settings/Settings.ts"
import { databaseFile, storageLayer, storageName } from "../storage.ts"
import * as flags from "./flags.ts"
import { commandLogging, settingsOfCommand } from "./UseCases.ts"

const schemaOf = Effect.fnUntraced(function* (settings: Settings) {
  if (settings.DATABASE_URL === undefined) {
    const { applied = 0, known } = yield* SqliteInspection.inspectStorage(databaseFile(settings))
    return { applied, known }
  }
  return settings.DATABASE_URL.kind === "memory"
    ? { applied: 0, known: 0 }
    : yield* PgInspection.inspectStorage({ url: settings.DATABASE_URL.url })
})

/** `tocsin migrate` */
export const migrate = Command.make(
  "migrate",
  { json: flags.json },
  Effect.fnUntraced(function* ({ json }) {
    const output = yield* Output
    const settings = yield* settingsOfCommand
    if (settings.DATABASE_URL === undefined) yield* ensureDataDirectory(settings.SERVICE_DATA_DIR)
    const before = yield* schemaOf(settings)
    // Opening a storage brings it to the present schema, in one transaction that other starts wait for.
    yield* Effect.scoped(Layer.build(storageLayer(settings))).pipe(Effect.provide(commandLogging(settings)))
    const { applied: from, known: to } = before
    const place = storageName(settings)
    const sentence =
      from === to
        ? `${place} is at schema ${to}, the present one: nothing to do`
        : `${place} was brought from schema ${from} to ${to}`
    yield* output.write(json ? `${jsonText({ from, to })}\n` : `${sentence}\n`)
  }),
).pipe(
  Command.withDescription(
    "Create the storage's schema, or bring it up to date. A server does the same when it starts",
  ),
)
