import { Schema } from "effect"

/** The server cannot start: one message for the person who started it. */
export class StartFailure extends Schema.TaggedError<StartFailure>()("StartFailure", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect()),
}) {}
