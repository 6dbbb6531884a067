import type { ExportParameters } from "@tocsin/contract/export/Export"
import { Context, Effect, Layer } from "effect"
import { exporting, historyRows, incidentRows, type ShowIncidents } from "../features/export/exporting.ts"
import { hourRows } from "../features/numbers/hourRows.ts"
import { NumberMemory } from "../features/numbers/NumberMemory.ts"
import { Hashing } from "../kernel/ports/Hashing.ts"
import { Storage } from "../kernel/ports/Storage.ts"

/** Rows for other systems (docs/rules.md#export). */
export class Exports extends Context.Service<Exports>()("@tocsin/core/lists/Exports", {
  make: Effect.gen(function* () {
    const begin = exporting((yield* Hashing).sha256)
    const memory = yield* NumberMemory
    const storage = yield* Storage
    return {
      /** Rows of a kind and a span, until the scope closes. */
      exportRows: (parameters: ExportParameters, show: ShowIncidents) => {
        switch (parameters.kind) {
          case "history":
            return begin(parameters, historyRows(storage))
          case "incidents":
            return begin(parameters, incidentRows(storage, show))
          case "numbers":
            return begin(parameters, hourRows(storage, memory))
        }
      },
    }
  }),
}) {
  static readonly layer = Layer.provide(Layer.effect(Exports, Exports.make), NumberMemory.layer)
}
