import { Schema } from "effect"
import { optional, timestamp } from "../formats/Fields.ts"
import { AgentId, CheckId } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"

export const NumberStep = Schema.Literals(["5m", "1h", "1d"])
export type NumberStep = typeof NumberStep.Type
export const stepMillis: Readonly<Record<NumberStep, number>> = {
  "5m": 300_000,
  "1h": 3_600_000,
  "1d": 86_400_000,
}

export const NumbersParameters = Schema.Struct({
  agent_id: AgentId.annotateKey({ description: "The agent of the check." }),
  check_id: CheckId.annotateKey({ description: "The check that measured." }),
  name: optional(
    Schema.String.check(Schema.isPattern(/^[^\p{Cc}]+$/u, { expected: "the name of a series" })),
    "Only the series of this name; all without.",
  ),
  from: Schema.optionalKey(timestamp("Where the time begins: 24 hours before its end without.")),
  to: Schema.optionalKey(timestamp("Where the time ends: now without.")),
  step: optional(
    NumberStep,
    "How long each span is, days by UTC: without, the shortest that is kept and gives at most 1000 spans.",
  ),
})
export type NumbersParameters = typeof NumbersParameters.Type

const Bound = Schema.NullOr(Schema.String).annotate({ description: "As the newest output states it." })

const Series = Schema.Struct({
  name: Schema.String,
  unit: Schema.String,
  last: Schema.NullOr(Schema.Finite),
  last_at: Schema.NullOr(InstantFromString),
  warn: Bound,
  crit: Bound,
  min: Bound,
  max: Bound,
}).annotate({ identifier: "NumberSeries", description: "A series of numbers of one check." })
export type NumberSeries = typeof Series.Type

export const SeriesOfCheck = Schema.Struct({
  items: Schema.Array(Series),
  not_kept: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      unit: Schema.String,
      because: Schema.Literals(["check", "agent", "all", "not_yet"]).annotate({
        description:
          "The bound that it would exceed: of its check, of its agent or of all series. A server that has not written it yet is not_yet.",
      }),
    }),
  ).annotate({ description: "The numbers that the newest output states beyond those that are kept." }),
}).annotate({
  identifier: "SeriesOfCheck",
  description: "The series of one check.",
})

export type SeriesOfCheck = typeof SeriesOfCheck.Type

export const NumberSpan = Schema.Struct({
  at: InstantFromString,
  count: Schema.Int,
  min: Schema.Finite,
  max: Schema.Finite,
  mean: Schema.Finite,
  last: Schema.Finite,
}).annotate({ identifier: "NumberSpan", description: "The values of a series in one span." })

export const NumbersAnswer = Schema.Struct({
  step: NumberStep,
  series: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      unit: Schema.String,
      place: optional(
        AgentId,
        "The place that measured it: of a watch with other places than here, each has its series of how long it took.",
      ),
      spans: Schema.Array(NumberSpan),
    }),
  ),
}).annotate({
  identifier: "Numbers",
  description: "Spans of the series of a check, in the order of time. A time without a value has no span.",
})
export type NumbersAnswer = typeof NumbersAnswer.Type
