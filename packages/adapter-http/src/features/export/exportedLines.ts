import { HeldIncident } from "@tocsin/contract/incidents/HeldRows"
import type { ExportParameters } from "@tocsin/contract/export/Export"
import { Incidents } from "@tocsin/core/heart/usecases/Incidents"
import { Exports } from "@tocsin/core/lists/Exports"
import { Effect, Schema } from "effect"

const encode = Schema.encodeSync(HeldIncident)

/** The lines of exports, in pieces: for answers, commands and programs (docs/rules.md#export). */
export const exportedLines = Effect.gen(function* () {
  const { heldIncidents } = yield* Incidents
  const { exportRows } = yield* Exports
  return (parameters: ExportParameters) =>
    exportRows(parameters, (rows) =>
      Effect.map(heldIncidents(rows), (items) => items.map((item) => encode(item))),
    )
})

export const textOf = (lines: ReadonlyArray<object>): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("")
