import { Schema } from "effect"
import { closedStruct, named, optional, timestamp } from "./Fields.ts"
import { NotifierName } from "./Status.ts"
import { isPlainText } from "./Text.ts"

const OF_OVERRIDE = { expected: "a list of 1 to 5 receivers" }

export const OverrideRequest = closedStruct({
  from: Schema.optionalKey(timestamp("When it begins; now unless given.")),
  to: timestamp("When it ends, at most 31 days after it begins."),
  receivers: Schema.NonEmptyArray(NotifierName)
    .check(Schema.isMaxLength(5, OF_OVERRIDE), Schema.isUnique())
    .annotate({ ...OF_OVERRIDE, description: "Who is on call instead." }),
  note: optional(Schema.String.check(isPlainText({ min: 1, max: 1024 })), "Why."),
}).annotate(named("OverrideRequest", "A new override of a rota."))
export type OverrideRequest = typeof OverrideRequest.Type
