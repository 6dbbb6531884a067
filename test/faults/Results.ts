import { Schema } from "effect"

/** The effect of one fault on one setup, as results.jsonl keeps it. */
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
export interface Results {
  readonly machine: string
  readonly rows: ReadonlyArray<Row>
}

const decodeMachine = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ machine: Schema.String })),
)
const decodeRow = Schema.decodeUnknownSync(Schema.fromJsonString(RowSchema))

/** Reads results.jsonl: the machine in its first line, then a row in each. */
export const readResults = (text: string): Results => {
  const [machine, ...rows] = text.trimEnd().split("\n")
  return { ...decodeMachine(machine), rows: rows.map((line) => decodeRow(line)) }
}

export const writeResults = ({ machine, rows }: Results): string =>
  [{ machine }, ...rows].map((line) => `${JSON.stringify(line)}\n`).join("")

/** Puts rows in the place of earlier ones of the same fault and setup. */
export const withRows = (earlier: ReadonlyArray<Row>, rows: ReadonlyArray<Row>): ReadonlyArray<Row> => [
  ...earlier.filter((old) => !rows.some(({ fault, setup }) => fault === old.fault && setup === old.setup)),
  ...rows,
]
