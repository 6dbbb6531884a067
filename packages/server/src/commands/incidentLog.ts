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
import { Effect, Record, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { notFound, refusal, usageFailure } from "../CommandFailure.ts"
import { writeResult } from "../output/Output.ts"
import * as flags from "./flags.ts"
import { readArguments } from "./readArguments.ts"
import { useCases } from "./UseCases.ts"

/** An incident, as an argument. */
export const incidentArgument = Argument.String("INCIDENT").pipe(
  Argument.withDescription("ID of the incident"),
  Argument.withSchema(IncidentId),
)

/** The failure of a command about an incident that does not exist. */
export const noSuchIncident = (id: IncidentId) => () =>
  Effect.fail(notFound(`there is no incident ${id}: list incidents with tocsin incidents`))

/** `tocsin incidents ack` */
export const ack = Command.make(
  "ack",
  {
    id: incidentArgument,
    for: flags.text("for", "How long, such as 90m or 2d (default: SERVICE_ACK_FOR)"),
    until: flags.text("until", "Until when, such as 2027-01-31T08:30:00Z"),
    severity: flags.filter("severity", Severity.literals, "Only if the incident still has this severity"),
    note: flags.text("note", "What the others are to know, up to 1,024 characters"),
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ id, json, ...given }) {
    const request = yield* readArguments(AcknowledgeRequest, Record.getSomes(given))
    const acknowledging = Effect.gen(function* () {
      const operations = yield* Operations
      const acknowledged = yield* operations.acknowledge(id, request).pipe(
        Effect.catchTags({
          NotFound: noSuchIncident(id),
          StateConflict: ({ message }) => Effect.fail(refusal(message)),
          ValidationError: ({ message }) => Effect.fail(usageFailure(message)),
        }),
      )
      const answer = Schema.encodeSync(Acknowledgement)(toAcknowledgement(acknowledged))
      return yield* writeResult(json, answer, () => `${id}: acknowledged until ${answer.until}\n`)
    })
    return yield* Effect.provide(acknowledging, useCases)
  }),
).pipe(
  Command.withDescription("Acknowledge an open incident: hold its firings until the acknowledgement ends"),
)

/** `tocsin incidents unack` */
export const unack = Command.make(
  "unack",
  { id: incidentArgument, json: flags.json },
  Effect.fnUntraced(function* ({ id, json }) {
    const operations = yield* Operations
    const withdrawn = operations.withdraw(id)
    const { count } = yield* Effect.catchTag(withdrawn, "NotFound", noSuchIncident(id))
    return yield* writeResult(json, { count }, () =>
      count === 0 ? `${id}: was not acknowledged\n` : `${id}: no longer acknowledged\n`,
    )
  }, Effect.provide(useCases)),
).pipe(Command.withDescription("Withdraw the acknowledgement of an incident"))

/** `tocsin incidents note` */
export const note = Command.make(
  "note",
  {
    id: incidentArgument,
    text: Argument.String("TEXT").pipe(Argument.withDescription("The note, up to 4,096 characters")),
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ id, json, text }) {
    const request = yield* readArguments(NoteRequest, { text })
    const noting = Effect.gen(function* () {
      const operations = yield* Operations
      const noted = yield* Effect.catchTag(operations.note(id, request), "NotFound", noSuchIncident(id))
      const answer = Schema.encodeSync(IncidentLogEntry)(toLogEntry(noted))
      return yield* writeResult(json, answer, () => `${id}: noted\n`)
    })
    return yield* Effect.provide(noting, useCases)
  }),
).pipe(Command.withDescription("Add a note to an incident, open or resolved"))
