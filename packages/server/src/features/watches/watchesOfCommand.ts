import { Watches } from "@tocsin/core/features/watches/Watches"
import { RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Effect, Layer } from "effect"
import { settingsOfCommand } from "../../commands/UseCases.ts"
import { serverProbes } from "./serverProbes.ts"

/** Watches for a command, which the running server probes. */
export const watchesOfCommand = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* settingsOfCommand
    const { stored = {} } = yield* RuleSettings
    return Layer.provide(Watches.layer, serverProbes({ ...settings, stored }))
  }),
)
