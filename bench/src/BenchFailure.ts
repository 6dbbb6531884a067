import { Schema } from "effect"

/** The harness cannot continue; the message says what to do. */
export class BenchFailure extends Schema.TaggedError<BenchFailure>()("BenchFailure", {
  message: Schema.String,
  /** That of an answer which is no success. */
  status: Schema.optional(Schema.Int),
}) {}
