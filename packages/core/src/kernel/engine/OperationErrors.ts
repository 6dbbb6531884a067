import { Schema } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { Refusal } from "../model/plannedSpan.ts"

export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { message: Schema.String }) {}

/** The operator's role does not include the act on this object. */
export class NotPermitted extends Schema.TaggedError<NotPermitted>()("NotPermitted", {
  message: Schema.String,
}) {}

/** The policy in force is not the one that the request is to replace. */
export class AnotherPolicy extends Schema.TaggedError<AnotherPolicy>()("AnotherPolicy", {
  message: Schema.String,
}) {}

export class StateConflict extends Schema.TaggedError<StateConflict>()("StateConflict", {
  message: Schema.String,
}) {}

/** The error of a planned row that was not stored. */
export const refusalError = ({ message, reason }: Refusal) =>
  reason === "invalid" ? new ValidationError({ message }) : new StateConflict({ message })

const NO_SUCH = {
  check: "no agent has a check of this id; list checks with GET /ops/v1/checks",
  check_of_agent: "this agent has no such check; list its checks with GET /api/v1/checks?agent_id=…",
  incident: "no incident has this id; list incidents with GET /api/v1/incidents",
  operator: "no operator has this name; list operators with GET /ops/v1/operators",
}

export const noSuch = (what: keyof typeof NO_SUCH) => new NotFound({ message: NO_SUCH[what] })
