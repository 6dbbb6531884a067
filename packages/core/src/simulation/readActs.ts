import { Result, Schema, SchemaParser } from "effect"
import { AcknowledgeRequest } from "../contract/Acknowledgements.ts"
import { describeIssue } from "../contract/describeIssue.ts"
import { closedStruct } from "../contract/Fields.ts"
import { IncidentKey } from "../contract/Identifiers.ts"
import { type Instant, InstantFromString } from "../contract/Instant.ts"
import { isPlainText } from "../contract/Text.ts"

const by = Schema.optionalKey(Schema.String.check(isPlainText({ min: 1, max: 64 })))

const ofIncident = {
  received_at: InstantFromString,
  /** IDs differ from run to run; the key names the incident that is open then. */
  incident_key: IncidentKey,
}

const Acknowledged = closedStruct({
  ...ofIncident,
  acknowledge: closedStruct({ by, ...AcknowledgeRequest.fields }),
})
const Withdrawn = closedStruct({ ...ofIncident, withdraw: closedStruct({ by }) })

/** What a person did about the open incident of a key. */
export type ActEntry = (typeof Acknowledged.Type | typeof Withdrawn.Type) & {
  readonly entry: "act"
  readonly received_at: Instant
  /** Its line, named if the act turns out to be impossible. */
  readonly line: number
}

type Fields = Readonly<Record<string, unknown>>

type Read<Act> = Result.Result<Act, string>

/** A reader of lines of one form. */
const reader = <Act>(form: Schema.ConstraintDecoder<unknown> & { readonly Type: Act }) => {
  const decode = SchemaParser.decodeUnknownResult(form)
  return (fields: Fields): Read<Act> =>
    Result.mapError(decode(fields), (issue) => describeIssue(issue, "the line"))
}

const readAcknowledged = reader(Acknowledged)
const readWithdrawn = reader(Withdrawn)

/** Reads a line about an act; nothing if it is about something else. */
export const readAct = (fields: Fields, line: number): Read<ReadonlyArray<ActEntry>> | undefined => {
  if ("acknowledge" in fields)
    return Result.map(readAcknowledged(fields), (act): ReadonlyArray<ActEntry> => [
      { entry: "act", line, ...act },
    ])
  if ("withdraw" in fields)
    return Result.map(readWithdrawn(fields), (act): ReadonlyArray<ActEntry> => [
      { entry: "act", line, ...act },
    ])
  return undefined
}
