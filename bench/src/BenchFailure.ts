import { Schema } from "effect"

/** The harness cannot go on; the message says what to do. */
export class BenchFailure extends Schema.TaggedError<BenchFailure>()("BenchFailure", {
  message: Schema.String,
}) {}
