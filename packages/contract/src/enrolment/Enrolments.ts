import { Schema } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import { boundedText, closedStruct, named, NonNegativeInteger, optional } from "../formats/Fields.ts"
import { AgentId, tokenIdOf } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"

export const EnrolmentId = tokenIdOf("EnrolmentId", "an enrolment").pipe(Schema.brand("EnrolmentId"))
export type EnrolmentId = typeof EnrolmentId.Type

const MOST_USES = 1_000

export const CreateEnrolmentRequest = closedStruct({
  uses: optional(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MOST_USES })),
    "How many agents the token admits: 1 unless given.",
  ),
  expires_in: optional(
    DurationText({ min: "1 minute", max: "7 days" }),
    "How long the token is valid: 1h unless given.",
  ),
  agent_id: optional(AgentId, "The only agent that the token admits; any agent unless given."),
}).annotate(named("CreateEnrolmentRequest", "A new enrolment."))
export type CreateEnrolmentRequest = typeof CreateEnrolmentRequest.Type

export const EnrolmentState = Schema.Literals(["open", "used", "expired"]).annotate(
  named("EnrolmentState", "open: it admits agents. used: every use is spent. expired: its time is over."),
)
export type EnrolmentState = typeof EnrolmentState.Type

export const Enrolment = Schema.Struct({
  id: EnrolmentId,
  state: EnrolmentState,
  agent_id: Schema.NullOr(AgentId).annotateKey({ description: "The only agent; null for any." }),
  uses: NonNegativeInteger.annotate({ description: "How many agents it admits." }),
  used: NonNegativeInteger.annotate({ description: "How many it has admitted." }),
  expires_at: InstantFromString,
  created_at: InstantFromString,
  created_by: Schema.String.annotateKey({ description: "The operator who created it." }),
}).annotate(named("Enrolment", "A token by which agents are accepted."))
export type Enrolment = typeof Enrolment.Type

export const EnrolmentWithToken = Schema.Struct({
  ...Enrolment.fields,
  token: Schema.String.annotateKey({ description: "The token. It is not shown again." }),
}).annotate(named("EnrolmentWithToken", "A new enrolment with its token."))
export type EnrolmentWithToken = typeof EnrolmentWithToken.Type

export const EnrolRequest = closedStruct({
  token: Schema.RedactedFromValue(boundedText(512).annotate({ description: "The token of an enrolment." })),
}).annotate(named("EnrolRequest", "A token by which an agent is accepted."))
export type EnrolRequest = typeof EnrolRequest.Type

export const EnrolmentPath = Schema.Struct({
  id: EnrolmentId.annotateKey({ description: "The ID of an enrolment." }),
})

/** Its columns as CSV: see `csvText`. */
export const enrolmentColumns = "id state agent_id uses used expires_at created_at created_by"
