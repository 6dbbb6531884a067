import { Schema, SchemaTransformation } from "effect"

/** A whole number of seconds in a header field (RFC 9110, delay-seconds). */
export const Seconds = Schema.String.check(Schema.isPattern(/^[0-9]{1,9}$/u)).pipe(
  Schema.decodeTo(Schema.Int, SchemaTransformation.transform({ decode: Number, encode: String })),
)
