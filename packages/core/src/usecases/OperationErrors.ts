import { Schema } from "effect"

/** What an operator asked for by its id is not there. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { message: Schema.String }) {}

/** What an operator asked for does not go with the state that the thing is in. */
export class StateConflict extends Schema.TaggedError<StateConflict>()("StateConflict", {
  message: Schema.String,
}) {}
