import { uuidOf } from "../formats/Identifiers.ts"
import { Schema } from "effect"
import { closedStruct, described, named, optional, timestamp } from "../formats/Fields.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { receiversTogether, TOGETHER_RULE } from "../labels/policyFields.ts"
import { NotifierName } from "../formats/Status.ts"
import { isPlainText } from "../formats/Text.ts"

/** ID of an override of a rota: UUIDv7, lower case (docs/rules.md#overrides). */
export const OverrideId = uuidOf("OverrideId", "an override of a rota").pipe(Schema.brand("OverrideId"))
export type OverrideId = typeof OverrideId.Type

export const OverrideRequest = closedStruct({
  from: Schema.optionalKey(timestamp("When it begins; now unless given.")),
  to: timestamp("When it ends, at most 31 days after it begins."),
  receivers: receiversTogether.annotate({
    ...TOGETHER_RULE,
    description: "The receivers on call meanwhile.",
  }),
  note: optional(Schema.String.check(isPlainText({ min: 1, max: 1024 })), "Why."),
}).annotate(named("OverrideRequest", "A new override of a rota."))
export type OverrideRequest = typeof OverrideRequest.Type

const name = NotifierName.annotateKey({ description: "The name of a rota." })
export const RotaPath = Schema.Struct({ name })
export const OverridePath = Schema.Struct({
  name,
  id: OverrideId.annotateKey({ description: "The id of an override." }),
})

export const OverrideListParameters = Schema.Struct({
  from: Schema.optionalKey(timestamp("Only overrides that end after this time; now unless given.")),
})

export const RotaParameters = Schema.Struct({
  from: Schema.optionalKey(timestamp("Where the turns begin; now unless given.")),
  to: Schema.optionalKey(
    timestamp("Where the turns end, at most 366 days after `from`; 31 days unless given."),
  ),
})
export type RotaParameters = typeof RotaParameters.Type

export const Override = Schema.Struct({
  id: OverrideId,
  rota: NotifierName,
  state: Schema.Literals(["scheduled", "active", "ended"]).annotate(
    named("OverrideState", "scheduled: it has not begun."),
  ),
  from: InstantFromString,
  to: timestamp("The first moment at which it is over."),
  receivers: Schema.Array(NotifierName),
  missing: Schema.Array(NotifierName).annotateKey({
    description: "Its receivers that the policy in force lacks. With one of them it does not count.",
  }),
  note: Schema.NullOr(Schema.String),
  created_by: Schema.String,
  created_at: InstantFromString,
  left_out: Schema.Array(NotifierName).annotateKey({
    description: "Receivers that share a turn with some of its receivers, and are not on call meanwhile.",
  }),
}).annotate(named("Override", "Receivers that are on call in a rota for a while, instead of its turn."))
export type Override = typeof Override.Type

export const OverrideList = Schema.Struct({
  items: Schema.Array(Override).annotateKey({ description: "The latest created first, at most 1,000." }),
}).annotate(named("OverrideList", "Overrides of one rota."))

const onCall = {
  receivers: Schema.Array(NotifierName).annotateKey({ description: "The receivers on call." }),
  by: Schema.Literals(["turn", "otherwise", "override"]).annotateKey({
    description: "What puts them on call: their turn, the hours outside those of the rota, or an override.",
  }),
}
const until = Schema.NullOr(InstantFromString).annotateKey({
  description: "When others are on call; null if that is more than 93 days away.",
})

const onCallOf = {
  name: NotifierName,
  now: Schema.Struct({ ...onCall, until }),
  next: Schema.NullOr(Schema.Struct({ ...onCall, from: InstantFromString, until })),
}

export const RotaList = Schema.Struct({
  items: Schema.Array(
    Schema.Struct(onCallOf).annotate(named("RotaOnCall", "Who is on call in a rota, and who comes next.")),
  ).annotateKey({ description: "All rotas of the policy, in its order." }),
}).annotate(named("RotaList", "Who is on call."))
export type RotaList = typeof RotaList.Type

const span = {
  from: InstantFromString,
  to: timestamp("The first moment after it."),
}

const Turn = Schema.Struct({ ...span, ...onCall }).annotate(
  named("RotaTurn", "A time for which the same receivers are on call for the same reason."),
)

const Gap = Schema.Struct({
  ...span,
  receiver: NotifierName,
  reason: Schema.Literals(["shadow", "quiet", "unavailable", "refused"]),
  message: Schema.String.annotateKey({ description: "For people." }),
}).annotate(named("RotaGap", "A receiver on call whose messages do not arrive, or not always."))

export const RotaPlan = Schema.Struct({
  ...onCallOf,
  tz: Schema.String.annotateKey({ description: "The time zone by whose clock its turns begin." }),
  turns: described(Schema.Array(Turn), "Who is on call from `from` to `to`, without holes."),
  overrides: described(Schema.Array(Override), "Those that end after now, the latest created first."),
  gaps: Schema.Array(Gap).annotateKey({ description: "Of the turns that end after now." }),
  calendar: Schema.optionalKey(Schema.String).annotateKey({
    description:
      "The address of its calendar, for operators that may respond: everyone who has it can read who is on call.",
  }),
}).annotate(named("RotaPlan", "A rota over time."))
export type RotaPlan = typeof RotaPlan.Type
