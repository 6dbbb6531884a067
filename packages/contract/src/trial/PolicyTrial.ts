import { Schema } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import { described, named, optional, timestamp } from "../formats/Fields.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { NotifierName } from "../formats/Status.ts"

const TRIAL_BOUNDS = { min: "1 second", max: "366 days" } as const

export const PolicyTrialParameters = Schema.Struct({
  since: optional(
    DurationText(TRIAL_BOUNDS),
    "Counts the messages of this long until now; `30d` unless given.",
  ),
})

const TriedReceiver = Schema.Struct({
  receiver: NotifierName,
  in_force: Schema.Int.annotateKey({ description: "Messages under the policy in force." }),
  tried: Schema.Int.annotateKey({ description: "Messages under the policy that is tried." }),
}).annotate(named("TriedReceiver", "The messages of one receiver under both policies."))
export type TriedReceiver = typeof TriedReceiver.Type

const HeldCount = Schema.Struct({
  receiver: NotifierName,
  held_by: Schema.Array(Schema.String).annotateKey({
    description: "As of a firing, but `silence` and `parent` without their names.",
  }),
  outcome: Schema.Literals(["sent", "resolved", "replaced", "still_held"]).annotateKey({
    description:
      "`sent`: once the hold had ended. `resolved`: the incident resolved first. `replaced`: a later firing took its place.",
  }),
  firings: Schema.Int,
}).annotate(named("HeldCount", "Firings of one receiver that were held, and what became of them."))
export type HeldCount = typeof HeldCount.Type

export const PolicyTrial = Schema.Struct({
  since: timestamp("Messages are counted from here on."),
  until: InstantFromString,
  history_from: Schema.NullOr(InstantFromString).annotateKey({
    description: "The oldest result that was read; null without results.",
  }),
  results: Schema.Int.annotateKey({ description: "The results that were read." }),
  in_force: Schema.String.annotateKey({ description: "The hash of the policy in force." }),
  messages: Schema.Struct({ in_force: Schema.Int, tried: Schema.Int }),
  receivers: Schema.Array(TriedReceiver),
  held: Schema.Array(HeldCount).annotateKey({ description: "The firings that the tried policy held." }),
  unknown: described(Schema.Array(Schema.String), "What the history does not know, for people."),
}).annotate(
  named("PolicyTrial", "The messages that a policy would have sent, beside those of the policy in force."),
)
export type PolicyTrial = typeof PolicyTrial.Type
