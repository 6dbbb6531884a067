import { Result, type Schema, SchemaParser } from "effect"
import { describeIssue } from "@tocsin/contract/describeIssue"

/** A reader of lines of one form. Fails with one sentence. */
export const lineReader = <Line>(form: Schema.ConstraintDecoder<unknown> & { readonly Type: Line }) => {
  const decode = SchemaParser.decodeUnknownResult(form)
  return (fields: Readonly<Record<string, unknown>>): Result.Result<Line, string> =>
    Result.mapError(decode(fields), (issue) => describeIssue(issue, "the line"))
}
