import { Effect, Schema, SchemaTransformation } from "effect"
import { optional, timestamp } from "../formats/Fields.ts"
import { AgentId, CheckId } from "../formats/Identifiers.ts"
import {
  AgentStatus,
  IncidentState,
  ListedStatus,
  ShownState,
  NotificationType,
  NotifierKind,
  NotifierName,
  OutboxState,
  Severity,
} from "../formats/Status.ts"
import { isPlainParameter } from "../formats/Text.ts"

/** The largest page of a list (docs/rules.md#lists): who reads whole lists takes the fewest pages, and still bounded. */
export const MAX_LIMIT = 500
const DEFAULT_LIMIT = "100"

const Limit = Schema.String.check(
  Schema.makeFilter<string>((text) => /^[1-9][0-9]{0,2}$/u.test(text) && Number(text) <= MAX_LIMIT, {
    expected: `an integer from 1 to ${MAX_LIMIT}`,
    description: "How many items a page holds at most. It may change from page to page.",
    default: DEFAULT_LIMIT,
    toJsonSchema: () => ({ pattern: "^[1-9][0-9]{0,2}$" }),
  }),
).pipe(Schema.decodeTo(Schema.Int, SchemaTransformation.transform({ decode: Number, encode: String })))

const truth = (annotations: { readonly description?: string; readonly default?: "false" } = {}) =>
  Schema.Literals(["true", "false"])
    .annotate({ expected: "true or false", ...annotations })
    .pipe(
      Schema.decodeTo(
        Schema.Boolean,
        SchemaTransformation.transform({
          decode: (text) => text === "true",
          encode: (value): "true" | "false" => (value ? "true" : "false"),
        }),
      ),
    )

export const flag = (description: string) =>
  truth({ description, default: "false" }).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("false" as const)),
  )

const Cursor = Schema.String.check(
  isPlainParameter({ min: 1, max: 512 }).annotate({
    description: "The next_cursor of a page, or its prev_cursor with back=true. The first page without.",
  }),
)

const forward = {
  cursor: Schema.optionalKey(Cursor),
  limit: Limit.pipe(Schema.withDecodingDefaultKey(Effect.succeed(DEFAULT_LIMIT))),
}

/** The parameters of every list with a way back. */
export const paging = {
  ...forward,
  back: flag("Whether cursor is a prev_cursor, so that the page before is returned."),
}

const agentFilter = { agent_id: optional(AgentId, "Only what belongs to this agent.") }
const checkFilter = {
  ...agentFilter,
  check_id: optional(CheckId, "Only what belongs to checks of this name."),
}

const SORT = "The order of the items; ids break ties."

const direction = Schema.Literals(["asc", "desc"])
  .annotate({
    default: "desc",
    description: "Ascending or descending; one is the exact reverse of the other.",
  })
  .pipe(Schema.withDecodingDefaultKey(Effect.succeed("desc" as const)))

/** Shows the ID's pattern in documents; the ID's own schema checks it. */
const idText = Schema.String.check(
  Schema.makeFilter<string>(() => true, {
    toJsonSchema: () => ({ maxLength: 128, pattern: "^[A-Za-z0-9._:-]+$" }),
  }),
)

const DOTS = /^(?:\.|%2e){1,2}$/iu

/**
 * An ID as a path segment. Clients and proxies resolve the segments `.`, `..` and `%2E`, so IDs of
 * these names are sent as `%2E`, percent-encoded once more, and accepted in every form.
 */
const inPath = <S extends typeof AgentId | typeof CheckId>(id: S) =>
  idText.pipe(
    Schema.decodeTo(
      id,
      SchemaTransformation.transform({
        decode: (text) => (DOTS.test(text) ? text.replaceAll(/%2e/giu, ".") : text),
        encode: (name) => (DOTS.test(name) ? name.replaceAll(".", "%2E") : name),
      }),
    ),
  )

export const AgentPathParameters = Schema.Struct({ agent_id: inPath(AgentId) })
export type AgentPathParameters = typeof AgentPathParameters.Type

export const CheckPathParameters = Schema.Struct({ agent_id: inPath(AgentId), check_id: inPath(CheckId) })

/**
 * Path of one blacklist row. `key_id` is any text of 64 characters: one that is not a BlacklistId
 * matches no row, which is not an error (docs/rules.md#lists).
 */
export const BlacklistPathParameters = Schema.Struct({
  key_id: Schema.String.check(
    Schema.isPattern(/^[^]{64}$/u, {
      expected: "exactly 64 characters",
      description: "The id of a blacklist row, not a fingerprint.",
      toJsonSchema: () => ({ minLength: 64, maxLength: 64 }),
    }),
  ),
})
export type BlacklistPathParameters = typeof BlacklistPathParameters.Type

export const PageParameters = Schema.Struct(paging)

export const AcceptAllParameters = Schema.Struct({
  include_rotation: flag("Whether replacement keys of accepted agents are accepted too."),
})
export type AcceptAllParameters = typeof AcceptAllParameters.Type

/** Query of GET /api/v1/agents/admission/blacklist, which has no way back. */
export const BlacklistParameters = Schema.Struct(forward)
export type BlacklistParameters = typeof BlacklistParameters.Type

export const CheckListParameters = Schema.Struct({ ...agentFilter, ...paging })
export type CheckListParameters = typeof CheckListParameters.Type

export const EventListParameters = Schema.Struct({ ...checkFilter, ...paging })
export type EventListParameters = typeof EventListParameters.Type

/** Query of GET /api/v1/incidents (docs/rules.md#lists). */
export const IncidentListParameters = Schema.Struct({
  state: optional(IncidentState, "Only incidents in this state."),
  severity: optional(Severity, "Only incidents of this severity."),
  ...checkFilter,
  sort: Schema.Literals(["status", "opened_at", "resolved_at"])
    .annotate({ default: "status", description: SORT })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("status" as const))),
  direction,
  ...paging,
})
export type IncidentListParameters = typeof IncidentListParameters.Type

/** Query of GET /api/v1/notifiers/outbox (docs/rules.md#lists). */
export const OutboxListParameters = Schema.Struct({
  state: optional(OutboxState, "Only notifications in this state."),
  notifier: optional(NotifierKind, "Only notifications to this notifier."),
  event_type: optional(NotificationType, "Only notifications that say this."),
  sort: Schema.Literals(["created_at", "updated_at"])
    .annotate({ default: "updated_at", description: SORT })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("updated_at" as const))),
  direction,
  ...paging,
})
export type OutboxListParameters = typeof OutboxListParameters.Type

const MAX_SEARCH = 200

const searching = (texts: string) =>
  optional(
    Schema.String.check(isPlainParameter({ min: 1, max: MAX_SEARCH })),
    `Only what has each of these words in ${texts}; the case of ASCII letters does not count.`,
  )

const fromAgent = optional(AgentId, "The first page begins at this agent, or at the next one.")

export const FoundAgentListParameters = Schema.Struct({
  search: searching("its ID, its hostname or a label, written name=value"),
  from_agent: fromAgent,
  status: optional(AgentStatus, "Only agents in this status."),
  is_waiting: flag("Whether to list only agents of which a key waits for acceptance."),
  ...paging,
})
export type FoundAgentListParameters = typeof FoundAgentListParameters.Type

/** Query of GET /ops/v1/checks: that of v1, and more filters. */
export const ExpectedCheckListParameters = Schema.Struct({
  ...CheckListParameters.fields,
  search: searching("its agent's ID, its own ID or its summary"),
  from_agent: fromAgent,
  status: optional(ListedStatus, "Only checks in this status; not_ok stands for all others than ok."),
  state: optional(ShownState, "Only checks in this state; late has those, too, that never reported."),
  is_overdue: flag("The same as state=late, for clients of before."),
  without_places: flag("Whether to leave out the checks by which places report their watches."),
})

export const HeldIncidentListParameters = Schema.Struct({
  ...IncidentListParameters.fields,
  search: searching("its key, its summary, or the IDs of the agent and the check that opened it"),
  acknowledged: Schema.optionalKey(
    truth({ description: "Only incidents that are, or are not, acknowledged." }),
  ),
  from: Schema.optionalKey(
    timestamp("Only incidents that were opened at this time or later; resolved, with sort=resolved_at."),
  ),
  to: Schema.optionalKey(
    timestamp("Only incidents that were opened before this time; resolved, with sort=resolved_at."),
  ),
  with_receivers: flag(
    "Whether each incident is listed with its receivers, and what became of their firings.",
  ),
})
export type HeldIncidentListParameters = typeof HeldIncidentListParameters.Type

export const HeldOutboxListParameters = Schema.Struct({
  ...OutboxListParameters.fields,
  notifier: optional(NotifierName, "Only notifications to this notifier, also one of a module or a program."),
  receiver: optional(NotifierName, "Only notifications to this receiver."),
  held: Schema.optionalKey(
    truth({ description: "Only notifications that were, or were not, found held when last examined." }),
  ),
})
export type HeldOutboxListParameters = typeof HeldOutboxListParameters.Type

/** The parameters that a reader of the stream may state (docs/rules.md#live-views). */
export const StreamParameters = Schema.Struct({
  client: Schema.optionalKey(
    Schema.String.check(
      isPlainParameter({ min: 8, max: 64 }).annotate({
        description:
          "A name that a client drew for itself. It holds two streams at most: one more ends the oldest of them.",
      }),
    ),
  ),
})
