import { Schema } from "effect"
import { closedStruct, optional } from "./Fields.ts"
import { AgentId, CheckId } from "./Identifiers.ts"
import { InstantFromString } from "./Instant.ts"
import { paging } from "./Parameters.ts"
import { RotateOperatorRequest } from "./Operators.ts"
import { pageOf } from "./Responses.ts"

const NAME_LENGTH = 64
const NAME_RULE = `1 to ${NAME_LENGTH} letters, digits or the characters . _ : -`

/** Names an integration, and the agent that has its checks (docs/rules.md#integrations). */
export const IntegrationName = AgentId.check(
  Schema.isMaxLength(NAME_LENGTH, {
    identifier: "IntegrationName",
    description: "Names an integration, and the agent that has its checks.",
    expected: NAME_RULE,
  }),
)
export type IntegrationName = typeof IntegrationName.Type

/** The most checks of an integration. */
export const MOST_INTEGRATION_CHECKS = 1_000

/** The protocol of each kind of sender (docs/rules.md#integrations). */
export const IntegrationKinds = {
  ping: "the protocol of Healthchecks: curl in a crontab, runitor, borgmatic",
  push: "the push URL of Uptime Kuma",
} as const
export type IntegrationKind = keyof typeof IntegrationKinds
export const IntegrationKind = Schema.Literals(["ping", "push"]).annotate({
  identifier: "IntegrationKind",
  description: "The protocol of its senders.",
})

/** How an integration reads what its senders report. */
export const IntegrationOptions = closedStruct({
  check: optional(CheckId, "Its only check, which the URL of the key alone then means."),
  methods: optional(
    Schema.Array(Schema.Literals(["GET", "HEAD", "POST"])).check(Schema.isMinLength(1)),
    "The methods that report: all unless given. POST alone refuses previews of links, which open URLs.",
  ),
  create: optional(Schema.Boolean, "Whether a report for an unknown check creates it: true unless given."),
  max_checks: optional(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MOST_INTEGRATION_CHECKS })),
    `The most checks: ${MOST_INTEGRATION_CHECKS} unless given.`,
  ),
}).annotate({ identifier: "IntegrationOptions", description: "How to read what its senders report." })
export type IntegrationOptions = typeof IntegrationOptions.Type

/** The body of POST integrations. */
export const CreateIntegrationRequest = closedStruct({
  name: IntegrationName,
  kind: IntegrationKind,
  options: Schema.optionalKey(IntegrationOptions),
}).annotate({ identifier: "CreateIntegrationRequest", description: "A new integration." })
export type CreateIntegrationRequest = typeof CreateIntegrationRequest.Type

/** The body of PATCH integrations/{name}. */
export const ChangeIntegrationRequest = closedStruct({
  options: IntegrationOptions,
}).annotate({ identifier: "ChangeIntegrationRequest", description: "All options, as they are to be." })
export type ChangeIntegrationRequest = typeof ChangeIntegrationRequest.Type

/** The body of POST integrations/{name}/rotate. */
export const RotateIntegrationRequest = RotateOperatorRequest

const Refusal = Schema.Struct({
  at: InstantFromString,
  message: Schema.String.annotateKey({ description: "What its sender was answered." }),
}).annotate({ identifier: "IntegrationRefusal", description: "A request that was refused." })

/** An integration, without its key. */
export const Integration = Schema.Struct({
  name: IntegrationName,
  kind: IntegrationKind,
  options: IntegrationOptions,
  created_at: InstantFromString,
  created_by: Schema.String.annotateKey({ description: "The operator who created it." }),
  is_closed: Schema.Boolean.annotateKey({
    description: "Whether its key was blocked. A rotation makes a new key and opens it.",
  }),
  last_request_at: Schema.NullOr(InstantFromString).annotateKey({
    description: "When it last took a report, to 15 s; null before the first.",
  }),
  last_refusal: Schema.NullOr(Refusal).annotateKey({ description: "The last refused request, to 15 s." }),
}).annotate({ identifier: "Integration", description: "Reports of senders that do not speak this API." })
export type Integration = typeof Integration.Type

/** An integration with a key that is shown this once. */
export const IntegrationWithKey = Schema.Struct({
  ...Integration.fields,
  key: Schema.String.annotateKey({ description: "The new key. It is not shown again." }),
  urls: Schema.Array(Schema.String).annotateKey({
    description:
      "Addresses to paste into a sender; paths below this server's where no public address is set.",
  }),
}).annotate({ identifier: "IntegrationWithKey", description: "An integration with its new key." })
export type IntegrationWithKey = typeof IntegrationWithKey.Type

/** Query of GET /ops/v1/integrations. */
export const IntegrationListParameters = Schema.Struct(paging)

/** Path of one integration. */
export const IntegrationPath = Schema.Struct({
  name: IntegrationName.annotateKey({ description: "The name of an integration." }),
})

/** One page of integrations. */
export const IntegrationPage = pageOf(Integration, "IntegrationPage")
