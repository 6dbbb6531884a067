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
  RequiredRole,
  OperatorAuthentication,
  ValidParameters,
} from "./operation.ts"
import * as resources from "./opsResources.ts"

const Events = Schema.String.annotate({
  description: `Server-sent events. The data of each is JSON: \`topics\`, what to fetch again, and \`at\`, when the event was written. Topics are ${topicNames.join(", ")}; a newer version may know more.`,
}).pipe(HttpApiSchema.asText({ contentType: "text/event-stream" }))

const stream = HttpApiEndpoint.get("stream", "/stream", {
  success: Events,
  error: RateLimited.wire,
}).annotate(RequiredRole, "read")

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
}).annotate(RequiredRole, "admin")

const release = HttpApiEndpoint.post("release", "/outbox/:id/release", {
  params: resources.OutboxPath,
  success,
  error: [NotFound.wire, Conflict.wire],
}).annotate(RequiredRole, "admin")

const listHeldOutbox = HttpApiEndpoint.get("listHeldOutbox", "/outbox", {
  query: HeldOutboxListParameters,
  success: resources.HeldOutboxPage,
}).annotate(RequiredRole, "read")

const testNotifier = HttpApiEndpoint.post("testNotifier", "/notifiers/:notifier/test", {
  params: resources.NotifierPath,
  success: resources.NotifierTest,
  error: NotFound.wire,
}).annotate(RequiredRole, "respond")

const resetClock = HttpApiEndpoint.post("resetClock", "/agents/:agent_id/checks/:check_id/reset-clock", {
  params: CheckPathParameters,
  success,
  error: NotFound.wire,
}).annotate(RequiredRole, "admin")

const removeCheck = HttpApiEndpoint.delete("removeCheck", "/agents/:agent_id/checks/:check_id", {
  params: CheckPathParameters,
  success,
  error: NotFound.wire,
}).annotate(RequiredRole, "admin")

const listHeldIncidents = HttpApiEndpoint.get("listHeldIncidents", "/incidents", {
  query: HeldIncidentListParameters,
  success: resources.HeldIncidentPage,
}).annotate(RequiredRole, "read")

const showIncident = HttpApiEndpoint.get("showIncident", "/incidents/:id", {
  params: resources.IncidentPath,
  success: resources.IncidentDetail,
  error: NotFound.wire,
}).annotate(RequiredRole, "read")

const explain = HttpApiEndpoint.get("explain", "/explain", {
  query: resources.CheckQuery,
  success: resources.CheckExplanation,
  error: NotFound.wire,
}).annotate(RequiredRole, "read")

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
    }),
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
    }),
  )
  .middleware(ValidParameters)
  .middleware(AgentAuthentication) {}

const listExpectedChecks = HttpApiEndpoint.get("listExpectedChecks", "/checks", {
  query: ExpectedCheckListParameters,
  success: resources.ExpectedCheckStatePage,
}).annotate(RequiredRole, "read")

const getOverview = HttpApiEndpoint.get("getOverview", "/summary", {
  success: resources.Overview,
}).annotate(RequiredRole, "read")

const findAgents = HttpApiEndpoint.get("findAgents", "/agents", {
  query: FoundAgentListParameters,
  success: AgentPage,
}).annotate(RequiredRole, "read")

const listAvailability = HttpApiEndpoint.get("listAvailability", "/availability", {
  query: AvailabilityParameters,
  success: pageOf(CheckAvailability, "AvailabilityPage"),
}).annotate(RequiredRole, "read")

/** The changes that people made (docs/rules.md#audit). */
const listAudit = HttpApiEndpoint.get("listAudit", "/audit", {
  query: AuditListParameters,
  success: resources.AuditPage,
}).annotate(RequiredRole, "read")

class OperationsApi extends HttpApiGroup.make("operations")
  .add(
    getOverview,
    findAgents,
    listExpectedChecks,
    listAvailability,
    replay,
    release,
    listHeldOutbox,
    testNotifier,
  )
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
