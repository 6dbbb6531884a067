import { uuidOf } from "../formats/Identifiers.ts"
import { Schema } from "effect"
import { MatcherList, Matchers } from "../labels/Matcher.ts"
import { DurationText } from "../formats/DurationText.ts"
import { closedStruct, named, optional, timestamp } from "../formats/Fields.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { flag, paging } from "../v1/Parameters.ts"
import { Incident } from "../v1/Resources.ts"
import { isPlainText } from "../formats/Text.ts"

/** ID of a silence: UUIDv7, lower case (docs/rules.md#silences). */
export const SilenceId = uuidOf("SilenceId", "a silence").pipe(Schema.brand("SilenceId"))
export type SilenceId = typeof SilenceId.Type

export const SilencePath = Schema.Struct({
  id: SilenceId.annotateKey({ description: "The id of a silence." }),
})

const Comment = Schema.String.check(isPlainText({ min: 1, max: 1024 }))

export const SilenceRequest = closedStruct({
  matchers: Matchers,
  starts_at: Schema.optionalKey(timestamp("When it begins; now unless given.")),
  ends_at: Schema.optionalKey(timestamp("When it ends; either this or `for` is required.")),
  // A setting limits it further (docs/rules.md#silences).
  for: Schema.optionalKey(DurationText({ min: "1 second", max: "366 days" })),
  comment: Comment.annotateKey({ description: "Why." }),
  confirm: optional(
    Schema.Boolean,
    "Required for a silence that covers more than half of the accepted agents, and more than 10.",
  ),
}).annotate(named("SilenceRequest", "A new silence."))
export type SilenceRequest = typeof SilenceRequest.Type

export const SilenceChangeRequest = closedStruct({
  ends_at: Schema.optionalKey(timestamp("When it ends.")),
  comment: Schema.optionalKey(Comment),
}).annotate(named("SilenceChangeRequest", "Absent fields stay as they are."))
export type SilenceChangeRequest = typeof SilenceChangeRequest.Type

export const SilenceStateName = Schema.Literals(["scheduled", "active", "expired"]).annotate(
  named("SilenceState", "scheduled: it has not begun. expired: it has ended."),
)

export const Silence = Schema.Struct({
  id: SilenceId,
  state: SilenceStateName,
  // One that an earlier version stored may name nothing.
  matchers: MatcherList,
  starts_at: InstantFromString,
  ends_at: InstantFromString,
  comment: Schema.String,
  created_by: Schema.String,
  created_at: InstantFromString,
}).annotate(named("Silence", "While it is active, it holds the firings of the incidents that it covers."))
export type Silence = typeof Silence.Type

export const SilencePreview = Schema.Struct({
  agents: Schema.Int.annotateKey({ description: "Accepted agents whose id, hostname and labels match." }),
  open_incidents: Schema.Int,
  held_now: Schema.Int.annotateKey({ description: "Notifications that it would hold now." }),
  needs_confirm: Schema.Boolean.annotateKey({ description: "Whether it is refused without confirm." }),
  sample: Schema.Array(Incident).annotateKey({ description: "Up to 20 of the incidents." }),
}).annotate(named("SilencePreview", "The agents and rows that a silence would cover now."))
export type SilencePreview = typeof SilencePreview.Type

export const SilenceListParameters = Schema.Struct({
  state: optional(SilenceStateName, "Only silences in this state."),
  ...paging,
})
export type SilenceListParameters = typeof SilenceListParameters.Type

export const SilenceCreationParameters = Schema.Struct({
  dry_run: flag("Whether to report what the silence would cover, without creating it."),
})
