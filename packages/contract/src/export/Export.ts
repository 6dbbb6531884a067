import { Schema } from "effect"
import { timestamp } from "../formats/Fields.ts"
import { AgentId, CheckId } from "../formats/Identifiers.ts"
import { isPlainParameter } from "../formats/Text.ts"
import { NumberSpan } from "../numbers/Numbers.ts"

/** The rows of an export (docs/rules.md#export). */
export const ExportKind = Schema.Literals(["history", "incidents", "numbers"])
export type ExportKind = typeof ExportKind.Type

export const ExportParameters = Schema.Struct({
  kind: ExportKind.annotateKey({
    description:
      "Stored changes by when they were received, incidents that opened or resolved, or hours of series of numbers.",
  }),
  from: timestamp("Where the span begins."),
  to: timestamp("Where the span ends, not included. It may lie in the future."),
  cursor: Schema.optionalKey(
    Schema.String.check(
      isPlainParameter({ min: 1, max: 2_048 }).annotate({
        description: "A cursor of an export of the same kind and span, behind which this one begins.",
      }),
    ),
  ),
})
export type ExportParameters = typeof ExportParameters.Type

/** The values of a series in an hour. */
export const NumberHour = Schema.Struct({
  agent_id: AgentId,
  check_id: CheckId,
  name: Schema.String,
  unit: Schema.String,
  ...NumberSpan.fields,
})

/** A line between rows: an export with this cursor goes on behind them. The last line has `end`. */
export const ExportCursor = Schema.Struct({
  cursor: Schema.String,
  end: Schema.optionalKey(Schema.Literal(true)),
})
