import { exportedLines } from "@tocsin/adapter-http/features/export/exportedLines"
import type { ExportLine } from "@tocsin/client/Resources"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { ExportParameters } from "@tocsin/contract/export/Export"
import type { Incidents } from "@tocsin/core/heart/usecases/Incidents"
import type { Exports } from "@tocsin/core/lists/Exports"
import { type Context, Effect, type Pull, Result, SchemaParser, Scope, Stream } from "effect"
import type { CallError } from "../api/Calls.ts"
import type { Take } from "./LiveChanges.ts"

const readSpan = SchemaParser.decodeUnknownResult(ExportParameters)

/** The lines of an export. From the first take on it counts as one of this process, until the scope closes. */
export const exportLines = (
  services: Context.Context<Exports | Incidents>,
  span: unknown,
): Effect.Effect<Take<ExportLine>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let waiting = Array.from<object>([]).values()
    let pull: Pull.Pull<ReadonlyArray<ReadonlyArray<object>>, CallError> | undefined
    const begin = Effect.gen(function* () {
      const read = yield* Effect.fromResult(
        Result.mapError(
          readSpan(span),
          (issue) => new ValidationError({ message: describeIssue(issue, "the parameters") }),
        ),
      )
      const linesOf = yield* exportedLines
      return yield* Stream.toPull(yield* linesOf(read))
    }).pipe(Effect.provide(services), Scope.provide(scope))
    return Effect.gen(function* () {
      for (;;) {
        const next = waiting.next()
        // The lines of an export are those of the API.
        if (next.done !== true) return next.value as ExportLine
        pull ??= yield* begin
        waiting = (yield* pull).flat().values()
      }
    })
  })
