import { Schema } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import { closedStruct, fromOneTo, named, timestamp } from "../formats/Fields.ts"
import { IncidentId } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { Severity } from "../formats/Status.ts"
import { isPlainLines, isPlainText } from "../formats/Text.ts"

const MAX_IDS = 200

/** The length of the note of an acknowledgement, and of one in the timeline, in code points. */
export const LONGEST_NOTE = { acknowledgement: 1024, timeline: 4096 } as const

const Note = Schema.String.check(isPlainText({ min: 1, max: LONGEST_NOTE.acknowledgement }))
/** A setting limits it further (docs/rules.md#acknowledgements). */
const For = DurationText({ min: "1 second", max: "366 days" })

export const AcknowledgeRequest = closedStruct({
  note: Schema.optionalKey(Note.annotateKey({ description: "A note for the other operators." })),
  for: Schema.optionalKey(For),
  until: Schema.optionalKey(timestamp("When the acknowledgement ends; without it and `for`, after 8 hours.")),
  severity: Schema.optionalKey(
    Severity.annotateKey({ description: "The severity that is meant; 409 if the incident has another one." }),
  ),
}).annotate(named("AcknowledgeRequest", "Acknowledges an incident."))
export type AcknowledgeRequest = typeof AcknowledgeRequest.Type

export const AcknowledgeAllRequest = closedStruct({
  ids: Schema.Array(IncidentId).check(...fromOneTo(MAX_IDS, `1 to ${MAX_IDS} ids`)),
  note: Schema.optionalKey(Note),
  for: Schema.optionalKey(For),
}).annotate(named("AcknowledgeAllRequest", "Acknowledges up to 200 incidents."))
export type AcknowledgeAllRequest = typeof AcknowledgeAllRequest.Type

export const NoteRequest = closedStruct({
  text: Schema.String.check(isPlainLines({ min: 1, max: LONGEST_NOTE.timeline })),
}).annotate(named("NoteRequest", "A note on an incident."))
export type NoteRequest = typeof NoteRequest.Type

export const Acknowledgement = Schema.Struct({
  by: Schema.String,
  note: Schema.optionalKey(Schema.String),
  at: InstantFromString,
  until: InstantFromString,
  severity: Severity.annotateKey({ description: "The incident's severity at that time." }),
}).annotate({
  identifier: "Acknowledgement",
  description:
    "An operator takes care of the incident. Until then, Tocsin sends no notification of it unless it worsens.",
})

export const AcknowledgedAll = Schema.Struct({
  items: Schema.Array(
    Schema.Struct({ id: IncidentId, outcome: Schema.Literals(["acknowledged", "resolved", "unknown"]) }),
  ),
}).annotate(named("AcknowledgedAll", "The outcome for each incident."))

export const IncidentLogEntry = Schema.Struct({
  at: InstantFromString,
  action: Schema.Literals(["acknowledged", "withdrawn", "worsened", "ran_out", "noted"]).annotate({
    description:
      "worsened: the incident became worse than acknowledged, which ended the acknowledgement. ran_out: its time was over.",
  }),
  by: Schema.String.annotate({ description: "Who; system for what Tocsin did." }),
  text: Schema.optionalKey(Schema.String),
  until: Schema.optionalKey(InstantFromString),
  severity: Schema.optionalKey(Severity),
}).annotate(named("IncidentLogEntry", "An entry of an incident's log: an operator's action, or Tocsin's."))
