import { Schema } from "effect"

/** The requested thing does not exist. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { message: Schema.String }) {}

/** The policy in force is not the one that the request is to replace. */
export class AnotherPolicy extends Schema.TaggedError<AnotherPolicy>()("AnotherPolicy", {
  message: Schema.String,
}) {}

/** The request contradicts the state of the thing. */
export class StateConflict extends Schema.TaggedError<StateConflict>()("StateConflict", {
  message: Schema.String,
}) {}
