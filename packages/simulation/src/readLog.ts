import { AcknowledgeRequest } from "@tocsin/contract/Acknowledgements"
import { closedStruct } from "@tocsin/contract/Fields"
import { IncidentKey } from "@tocsin/contract/Identifiers"
import { type Instant, InstantFromString } from "@tocsin/contract/Instant"
import { SilenceChangeRequest, SilenceRequest } from "@tocsin/contract/Silences"
import { isPlainText } from "@tocsin/contract/Text"
import { describeIssue } from "@tocsin/contract/describeIssue"
import { Result, Schema, SchemaParser } from "effect"

/** A reader of lines of one form. Fails with one sentence. */
export const lineReader = <Line>(form: Schema.ConstraintDecoder<unknown> & { readonly Type: Line }) => {
  const decode = SchemaParser.decodeUnknownResult(form)
  return (fields: Readonly<Record<string, unknown>>): Result.Result<Line, string> =>
    Result.mapError(decode(fields), (issue) => describeIssue(issue, "the line"))
}

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

const ofSilence = {
  received_at: InstantFromString,
  /** A name of the input's own: IDs differ from run to run. */
  silence: Schema.String.check(isPlainText({ min: 1, max: 64 })),
}

const Added = closedStruct({ ...ofSilence, add: closedStruct({ by, ...SilenceRequest.fields }) })
const Extended = closedStruct({ ...ofSilence, extend: closedStruct({ by, ...SilenceChangeRequest.fields }) })
const Expired = closedStruct({ ...ofSilence, expire: closedStruct({ by }) })

type ActOnIncident = typeof Acknowledged.Type | typeof Withdrawn.Type
type ActOnSilence = typeof Added.Type | typeof Extended.Type | typeof Expired.Type

/** A person's action. */
export type ActEntry = (ActOnIncident | ActOnSilence) & {
  readonly entry: "act"
  readonly received_at: Instant
  /** Its line, named if the act turns out to be impossible. */
  readonly line: number
}

/** A person's action on the open incident of a key. */
export type IncidentLogEntry = Extract<ActEntry, ActOnIncident>

/** A person's action on a silence. */
export type SilenceAct = Extract<ActEntry, ActOnSilence>

type Fields = Readonly<Record<string, unknown>>

type Read<Act> = Result.Result<Act, string>

/** By the field that names the act. */
const READERS: Readonly<Record<string, (fields: Fields) => Read<ActOnIncident | ActOnSilence>>> = {
  acknowledge: lineReader(Acknowledged),
  withdraw: lineReader(Withdrawn),
  add: lineReader(Added),
  extend: lineReader(Extended),
  expire: lineReader(Expired),
}

/** Reads a line about an act; nothing if it is about something else. */
export const readAct = (fields: Fields, line: number): Read<ReadonlyArray<ActEntry>> | undefined => {
  const [, read] = Object.entries(READERS).find(([name]) => name in fields) ?? []
  return read && Result.map(read(fields), (act): ReadonlyArray<ActEntry> => [{ entry: "act", line, ...act }])
}
