import { Schema } from "effect"

/** One sample: the rate, latencies and processor time. */
export const Sample = Schema.Struct({
  perSecond: Schema.Number,
  p50Millis: Schema.optionalKey(Schema.Number),
  p99Millis: Schema.optionalKey(Schema.Number),
  maxMillis: Schema.optionalKey(Schema.Number),
  /** Processor time for one operation, by process. */
  cpuMicros: Schema.Record(Schema.String, Schema.Number),
})
export type Sample = typeof Sample.Type

/** Samples of a subject or a limit, taken alternately. */
export const Series = Schema.Struct({
  /** "subject", or the name of a limit. */
  name: Schema.String,
  samples: Schema.Array(Sample),
  /** Peak resident memory, by process. */
  peakMiB: Schema.Record(Schema.String, Schema.Number),
})
export type Series = typeof Series.Type

/** A figure with a target, or one to compare between commits. */
export const Figure = Schema.Struct({
  /** For example "× raw". */
  name: Schema.String,
  value: Schema.Number,
  /** By processor time instead of elapsed time. */
  byCpu: Schema.optionalKey(Schema.Number),
  target: Schema.optionalKey(
    Schema.Struct({ bound: Schema.Literals(["at least", "at most"]), value: Schema.Number }),
  ),
})
export type Figure = typeof Figure.Type

/** The result of a case. */
export const CaseResult = Schema.Struct({
  name: Schema.String,
  /** The name of an operation, in the plural. */
  operations: Schema.String,
  series: Schema.Array(Series),
  figures: Schema.Array(Figure),
  /** Resident memory of the server, once a second. */
  memoryMiB: Schema.optionalKey(Schema.Array(Schema.Number)),
  /** Why these figures do not count. */
  failure: Schema.optionalKey(Schema.String),
})
export type CaseResult = typeof CaseResult.Type

/** The machine and the conditions of a run. */
export const Conditions = Schema.Struct({
  startedAt: Schema.String,
  commit: Schema.String,
  node: Schema.String,
  processor: Schema.String,
  cores: Schema.Number,
  memoryMiB: Schema.Number,
  kernel: Schema.String,
  /** The data folder, and the median time of a 4 KiB append with fdatasync in it. */
  dataFolder: Schema.String,
  syncMillis: Schema.Number,
  postgres: Schema.optionalKey(Schema.String),
  upsertsBy: Schema.optionalKey(Schema.String),
  /** Average number of runnable processes at the start: of other work, if it is not near 0. */
  loadAverage: Schema.Number,
  agents: Schema.Number,
  seconds: Schema.Number,
  repeats: Schema.Number,
})
export type Conditions = typeof Conditions.Type

/** All of a run, as `--json` writes it. */
export const Results = Schema.Struct({ conditions: Conditions, cases: Schema.Array(CaseResult) })
export type Results = typeof Results.Type
