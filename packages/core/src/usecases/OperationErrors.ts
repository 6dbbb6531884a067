import { Schema } from "effect"

export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { message: Schema.String }) {}

/** The policy in force is not the one that the request is to replace. */
export class AnotherPolicy extends Schema.TaggedError<AnotherPolicy>()("AnotherPolicy", {
  message: Schema.String,
}) {}

export class StateConflict extends Schema.TaggedError<StateConflict>()("StateConflict", {
  message: Schema.String,
}) {}
