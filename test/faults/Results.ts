import { Schema } from "effect"

/** The effect of one fault on one setup, as results.json keeps it. */
const RowSchema = Schema.Struct({
  fault: Schema.String,
  setup: Schema.Literals(["sqlite", "postgres", "three on postgres"]),
  rounds: Schema.Number,
  acknowledged: Schema.Number,
  lost: Schema.Number,
  duplicated: Schema.Number,
  outOfOrder: Schema.Number,
  wronglyNotified: Schema.Number,
  sentAgain: Schema.Number,
  /** Absent where a server did not acknowledge again. */
  worstRecoveryMillis: Schema.NullOr(Schema.Number),
  longestWaitMillis: Schema.Number,
  commit: Schema.String,
})
export type Row = typeof RowSchema.Type

/** The latest row of each fault and setup, and the machine and versions of the latest run. */
export const Results = Schema.Struct({ machine: Schema.String, rows: Schema.Array(RowSchema) })
export type Results = typeof Results.Type

/** Puts rows in the place of earlier ones of the same fault and setup. */
export const withRows = (earlier: ReadonlyArray<Row>, rows: ReadonlyArray<Row>): ReadonlyArray<Row> => [
  ...earlier.filter((old) => !rows.some(({ fault, setup }) => fault === old.fault && setup === old.setup)),
  ...rows,
]
