import { Schema } from "effect"

/**
 * A request that does not fit the contract. `message` is one English sentence that names the first offending field by
 * its path; it holds no value of the request (docs/rules.md#bodies).
 */
export class ValidationError extends Schema.TaggedError<ValidationError>()("ValidationError", {
  message: Schema.String,
}) {}
