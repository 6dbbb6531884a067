import {
  AcknowledgeRequest,
  Acknowledgement,
  IncidentLogEntry,
  NoteRequest,
} from "@tocsin/contract/Acknowledgements"
import { IncidentId } from "@tocsin/contract/Identifiers"
import { Severity } from "@tocsin/contract/Status"
import { Operations } from "@tocsin/core/usecases/Operations"
import { toLogEntry, toAcknowledgement } from "@tocsin/core/usecases/toResources"
import { Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { notFound } from "../CommandFailure.ts"
import { act, onStorage } from "./act.ts"
import * as flags from "./flags.ts"
import { readArguments } from "./readArguments.ts"

/** An incident, as an argument. */
export const incidentArgument = Argument.String("INCIDENT").pipe(
  Argument.withDescription("ID of the incident"),
  Argument.withSchema(IncidentId),
)

/** The failure of a command about an incident that does not exist. */
export const noSuchIncident = ({ id }: { readonly id: IncidentId }) =>
  notFound(`there is no incident ${id}: list incidents with tocsin incidents`)

/** `tocsin incidents ack` */
export const ack = act({
  name: "ack",
  parameters: {
    id: incidentArgument,
    for: flags.text("for", "How long, such as 90m or 2d (default: SERVICE_ACK_FOR)"),
    until: flags.text("until", "Until when, such as 2027-01-31T08:30:00Z"),
    severity: flags.filter("severity", Severity.literals, "Only if the incident still has this severity"),
    note: flags.text("note", "A note for the other operators, up to 1,024 characters"),
  },
  run: Effect.fnUntraced(function* ({ id, ...given }) {
    const request = yield* readArguments(AcknowledgeRequest, given)
    const acknowledging = Operations.use((operations) => operations.acknowledge(id, request))
    const answer = Schema.encodeSync(Acknowledgement)(toAcknowledgement(yield* onStorage(acknowledging)))
    return { answer, text: `${id}: acknowledged until ${answer.until}\n` }
  }),
  refused: { NotFound: noSuchIncident },
}).pipe(
  Command.withDescription("Acknowledge an open incident: hold its firings until the acknowledgement ends"),
)

/** `tocsin incidents unack` */
export const unack = act({
  name: "unack",
  parameters: { id: incidentArgument },
  run: Effect.fnUntraced(function* ({ id }) {
    const { count } = yield* onStorage(Operations.use((operations) => operations.withdraw(id)))
    const done = count === 0 ? "was not acknowledged" : "no longer acknowledged"
    return { answer: { count }, text: `${id}: ${done}\n` }
  }),
  refused: { NotFound: noSuchIncident },
}).pipe(Command.withDescription("Withdraw the acknowledgement of an incident"))

/** `tocsin incidents note` */
export const note = act({
  name: "note",
  parameters: {
    id: incidentArgument,
    text: Argument.String("TEXT").pipe(Argument.withDescription("The note, up to 4,096 characters")),
  },
  run: Effect.fnUntraced(function* ({ id, text }) {
    const request = yield* readArguments(NoteRequest, { text })
    const noted = yield* onStorage(Operations.use((operations) => operations.note(id, request)))
    return { answer: Schema.encodeSync(IncidentLogEntry)(toLogEntry(noted)), text: `${id}: noted\n` }
  }),
  refused: { NotFound: noSuchIncident },
}).pipe(Command.withDescription("Add a note to an incident, open or resolved"))
