import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AuditListParameters } from "../Audit.ts"
import { AvailabilityParameters, CheckAvailability } from "../Availability.ts"
import { EnrolRequest } from "../Enrolments.ts"
import { ExpectationsRequest, ExpectationsResponse } from "../Expectations.ts"
import {
  AgentPathParameters,
  CheckPathParameters,
  ExpectedCheckListParameters,
  FoundAgentListParameters,
  HeldIncidentListParameters,
  HeldOutboxListParameters,
} from "../Parameters.ts"
import { AcceptedResponse, ActionCountResponse, AgentPage, pageOf } from "../Responses.ts"
import { topicNames } from "../Topics.ts"
import {
  AgentBlocked,
  AgentNotAccepted,
  Conflict,
  Internal,
  NotFound,
  PayloadTooLarge,
  RateLimited,
} from "./ApiErrors.ts"
import { EnrolmentsApi } from "./EnrolmentsApi.ts"
import { IncidentActionsApi } from "./IncidentActionsApi.ts"
import { IntegrationsApi } from "./IntegrationsApi.ts"
import { NamedOperatorsApi } from "./NamedOperatorsApi.ts"
import { PolicyApi } from "./PolicyApi.ts"
import { SilencesApi } from "./SilencesApi.ts"
import { WatchesApi } from "./WatchesApi.ts"
import {
  AgentAuthentication,
  IgnoredBody,
  operation,
  operationsOf,
  OperatorAuthentication,
  ValidParameters,
} from "./operation.ts"
import * as resources from "./opsResources.ts"

const liveViews = operationsOf("Live views")
const notifications = operationsOf("Notifications")
const agents = operationsOf("Agents")
const checks = operationsOf("Checks")
const incidents = operationsOf("Incidents")
const operators = operationsOf("Operators")

const Events = Schema.String.annotate({
  description: `Server-sent events. The data of each is JSON: \`topics\`, what to fetch again, and \`at\`, when the event was written. Topics are ${topicNames.join(", ")}; a newer version may know more.`,
}).pipe(HttpApiSchema.asText({ contentType: "text/event-stream" }))

const stream = HttpApiEndpoint.get("stream", "/stream", {
  success: Events,
  error: RateLimited.wire,
}).annotateMerge(
  liveViews.read(
    "Stream what to fetch again",
    "Sends server-sent events that name what has changed, by this process or another: at most one a second, and a comment every 15 s. Fetch what you show once the stream has opened, and again whenever it opens anew. The token is checked every 15 s. A process serves 100 streams at most.",
  ),
)

/** The stream of changed topics, for live views (docs/rules.md#live-views). */
class StreamApi extends HttpApiGroup.make("stream")
  .add(stream)
  .middleware(IgnoredBody)
  .middleware(OperatorAuthentication) {}

const success = ActionCountResponse

const replay = HttpApiEndpoint.post("replay", "/notifiers/outbox/:id/replay", {
  params: resources.OutboxPath,
  success,
  error: [NotFound.wire, Conflict.wire],
}).annotateMerge(
  notifications.admin(
    "Send a failed notification again, with the same id",
    "Replays a failed notification: attempts and age start over, and its id stays, so that receivers can deduplicate. Answers 409 if the notification has not failed, or if it is a firing whose incident has resolved.",
  ),
)

const release = HttpApiEndpoint.post("release", "/outbox/:id/release", {
  params: resources.OutboxPath,
  success,
  error: [NotFound.wire, Conflict.wire],
}).annotateMerge(
  notifications.admin(
    "Send a held notification now",
    "Sends a held firing now, with the incident's present severity and summary. Nothing holds it again. Answers 409 if the notification is not held.",
  ),
)

const listHeldOutbox = HttpApiEndpoint.get("listHeldOutbox", "/outbox", {
  query: HeldOutboxListParameters,
  success: resources.HeldOutboxPage,
}).annotateMerge(
  notifications.read(
    "List notifications with what withholds them",
    "Lists notifications as v1 does, each with its receiver, its cause, and what withholds it now.",
  ),
)

const testNotifier = HttpApiEndpoint.post("testNotifier", "/notifiers/:notifier/test", {
  params: resources.NotifierPath,
  success: resources.NotifierTest,
  error: NotFound.wire,
}).annotateMerge(
  notifications.respond(
    "Send a test message now and report the receiver's answer",
    "Sends a test message immediately and reports the receiver's answer. Tocsin stores neither.",
  ),
)

const resetClock = HttpApiEndpoint.post("resetClock", "/agents/:agent_id/checks/:check_id/reset-clock", {
  params: CheckPathParameters,
  success,
  error: NotFound.wire,
}).annotateMerge(
  checks.admin(
    "Release a check that a clock in the future froze",
    "Releases a check whose agent had a clock in the future, so that its results count as late: last_observed_at becomes the moment at which its newest result arrived.",
  ),
)

const removeCheck = HttpApiEndpoint.delete("removeCheck", "/agents/:agent_id/checks/:check_id", {
  params: CheckPathParameters,
  success,
  error: NotFound.wire,
}).annotateMerge(
  checks.admin(
    "Delete a check that its agent no longer runs, with its history",
    "Deletes a check that its agent no longer runs, with its history. It leaves its incident.",
  ),
)

const listHeldIncidents = HttpApiEndpoint.get("listHeldIncidents", "/incidents", {
  query: HeldIncidentListParameters,
  success: resources.HeldIncidentPage,
}).annotateMerge(
  incidents.read(
    "List incidents with what withholds their firings",
    "Lists incidents as v1 does, each with its acknowledgement, and with what withholds its firings now.",
  ),
)

const showIncident = HttpApiEndpoint.get("showIncident", "/incidents/:id", {
  params: resources.IncidentPath,
  success: resources.IncidentDetail,
  error: NotFound.wire,
}).annotateMerge(
  incidents.read(
    "Show an incident with its members and timeline",
    "Shows an incident with its members, what happened to it and what was sent, the worst and the latest, at most 200 of each. States whom it notifies next, when, and what holds that.",
  ),
)

const explain = HttpApiEndpoint.get("explain", "/explain", {
  query: resources.CheckQuery,
  success: resources.CheckExplanation,
  error: NotFound.wire,
}).annotateMerge(
  checks.read(
    "Explain why a check is in its state",
    "Explains the state of a check: its newest result and time of arrival, the agent's clock skew, the last change and the incident.",
  ),
)

/** Agents' calls beyond the frozen contract, with their own keys. */
class DeclarationsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.put("declareExpectations", "/agents/:agent_id/expectations", {
      params: AgentPathParameters,
      payload: ExpectationsRequest,
      success: ExpectationsResponse,
      error: [
        AgentBlocked.wire,
        AgentNotAccepted.wire,
        PayloadTooLarge.wire,
        RateLimited.wire,
        Internal.wire,
      ],
    }).annotateMerge(
      operation(
        "Checks",
        "Declare which checks of an agent must report, and how often",
        "Declares checks that must report. One that stops is overdue, and joins the incident of its agent's overdue checks. Needs the agent's accepted key. Limited like heartbeats. An equal declaration changes nothing.",
      ),
    ),
    HttpApiEndpoint.put("enrol", "/agents/:agent_id/enrolment", {
      params: AgentPathParameters,
      payload: EnrolRequest,
      success: AcceptedResponse,
      error: [
        AgentBlocked.wire,
        AgentNotAccepted.wire,
        Conflict.wire,
        NotFound.wire,
        PayloadTooLarge.wire,
        RateLimited.wire,
        Internal.wire,
      ],
    }).annotateMerge(
      operation(
        "Admission",
        "Accept a pending agent by the token of an enrolment",
        "Accepts a pending agent without an operator. Send a heartbeat with the same key first. An accepted key is answered without a use of the token, so a repeat is safe. Answers 404 for a token that is unknown, used, expired or of another agent, and the agent stays pending; 409 for a replacement key, which only an operator accepts. Limited like heartbeats.",
      ),
    ),
  )
  .middleware(ValidParameters)
  .middleware(AgentAuthentication) {}

const listExpectedChecks = HttpApiEndpoint.get("listExpectedChecks", "/checks", {
  query: ExpectedCheckListParameters,
  success: resources.ExpectedCheckStatePage,
}).annotateMerge(
  checks.read(
    "List checks with when they must report",
    "Lists checks as v1 does, with the time by which each must report next, and whether it is overdue. With is_overdue=true it lists overdue checks only, those included that never reported; a page may then have fewer items than its limit.",
  ),
)

const findAgents = HttpApiEndpoint.get("findAgents", "/agents", {
  query: FoundAgentListParameters,
  success: AgentPage,
}).annotateMerge(
  agents.read(
    "Find agents by words, status or a waiting key",
    "Lists agents as v1 does: those that have the words, the status, or a key that waits.",
  ),
)

const listAvailability = HttpApiEndpoint.get("listAvailability", "/availability", {
  query: AvailabilityParameters,
  success: pageOf(CheckAvailability, "AvailabilityPage"),
}).annotateMerge(
  checks.read(
    "List how long checks were ok, and how long not",
    "Lists checks with their seconds in each state during a span of at most 400 days. A page has fewer items than its limit where matchers leave out some of its checks.",
  ),
)

/** The changes that people made (docs/rules.md#audit). */
const listAudit = HttpApiEndpoint.get("listAudit", "/audit", {
  query: AuditListParameters,
  success: resources.AuditPage,
}).annotateMerge(
  operators.read(
    "List who changed what",
    "Lists the changes that operators, commands, programs and ended times made, newest first.",
  ),
)

class OperationsApi extends HttpApiGroup.make("operations")
  .add(findAgents, listExpectedChecks, listAvailability, replay, release, listHeldOutbox, testNotifier)
  .add(resetClock, removeCheck, explain)
  .add(listHeldIncidents, showIncident)
  .add(listAudit)
  // The last one is the first that a request meets.
  .middleware(ValidParameters)
  .middleware(IgnoredBody)
  .middleware(OperatorAuthentication) {}

/** Operators' calls beyond the frozen contract, under /ops/v1; they may grow. */
export class OpsApi extends HttpApi.make("tocsin-ops")
  .add(DeclarationsApi, OperationsApi, NamedOperatorsApi, IncidentActionsApi, IntegrationsApi)
  .add(EnrolmentsApi, PolicyApi, SilencesApi, StreamApi, WatchesApi)
  .prefix("/ops/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Tocsin operations",
      version: "1.0.0",
      summary: "Operators' calls beyond the v1 API.",
    }),
  ) {}
