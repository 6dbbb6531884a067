import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AuditEntry, AuditListParameters } from "../audit/Audit.ts"
import { AvailabilityParameters, CheckAvailability } from "../availability/Availability.ts"
import { EnrolRequest } from "../enrolment/Enrolments.ts"
import { ExpectationsRequest, ExpectationsResponse } from "../overdue/Expectations.ts"
import * as Parameters from "../v1/Parameters.ts"
import { AcceptedResponse, ActionCountResponse, pageOf } from "../v1/Responses.ts"
import { topicNames } from "../liveViews/topicNames.ts"
import {
  AgentBlocked,
  AgentNotAccepted,
  Conflict,
  Internal,
  NotFound,
  PayloadTooLarge,
  RateLimited,
} from "./ApiErrors.ts"
import { AnnouncementsApi } from "../publicPages/AnnouncementsApi.ts"
import { EnrolmentsApi } from "../enrolment/EnrolmentsApi.ts"
import { ExportApi } from "../export/ExportApi.ts"
import { IncidentActionsApi } from "./IncidentActionsApi.ts"
import { IntegrationsApi } from "../integrations/IntegrationsApi.ts"
import { NamedOperatorsApi } from "./NamedOperatorsApi.ts"
import { NumbersApi } from "../numbers/NumbersApi.ts"
import { PolicyApi } from "./PolicyApi.ts"
import { PushApi } from "../push/PushApi.ts"
import { RotasApi } from "../onCall/RotasApi.ts"
import { SessionsApi, SignInApi } from "../signIn/SessionsApi.ts"
import { ReceiversApi } from "../receivers/ReceiversApi.ts"
import { ReportApi } from "../report/ReportApi.ts"
import { SettingsApi } from "../settings/SettingsApi.ts"
import { SilencesApi } from "../silences/SilencesApi.ts"
import { PlaceWatchesApi, WatchesApi } from "../watches/WatchesApi.ts"
import { AgentAuthentication, operatorsGroup, role, ValidParameters } from "./operation.ts"
import { TitleRequest } from "../titles/Titles.ts"
import { CheckExplanation, ExpectedCheckStatePage } from "../checks/ShownChecks.ts"
import { HeldIncident, HeldOutboxItem } from "../incidents/HeldRows.ts"
import { IncidentDetail, IncidentTrace } from "../incidents/IncidentDetail.ts"
import * as resources from "./opsResources.ts"

const Events = Schema.String.annotate({
  description: `Server-sent events. The data of each is JSON: \`topics\`, what to fetch again, and \`at\`, when the event was written. Topics are ${topicNames.join(", ")}; a newer version may know more.`,
}).pipe(HttpApiSchema.asText({ contentType: "text/event-stream" }))

/** The stream of changed topics, for live views (docs/rules.md#live-views). */
class StreamApi extends operatorsGroup(
  "stream",
  role.read.get("stream", "/stream", {
    query: Parameters.StreamParameters,
    success: Events,
    error: RateLimited.wire,
  }),
) {}

/** Agents' calls beyond the frozen contract, with their own keys. */
class DeclarationsApi extends HttpApiGroup.make("agents")
  .add(
    HttpApiEndpoint.put("declareExpectations", "/agents/:agent_id/expectations", {
      params: Parameters.AgentPathParameters,
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
      params: Parameters.AgentPathParameters,
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

const success = ActionCountResponse
const item = { params: resources.OutboxPath, success, error: [NotFound.wire, Conflict.wire] } as const
const check = { params: Parameters.CheckPathParameters, success, error: NotFound.wire } as const

class OperationsApi extends operatorsGroup(
  "operations",
  role.read.get("getOverview", "/summary", { success: resources.Overview }),
  role.read.get("findAgents", "/agents", {
    query: Parameters.FoundAgentListParameters,
    success: resources.TitledAgentPage,
  }),
  role.read.get("listExpectedChecks", "/checks", {
    query: Parameters.ExpectedCheckListParameters,
    success: ExpectedCheckStatePage,
  }),
  role.read.get("listAvailability", "/availability", {
    query: AvailabilityParameters,
    success: pageOf(CheckAvailability, "AvailabilityPage"),
  }),
  role.admin.post("replay", "/notifiers/outbox/:id/replay", item),
  role.admin.post("release", "/outbox/:id/release", item),
  role.read.get("listHeldOutbox", "/outbox", {
    query: Parameters.HeldOutboxListParameters,
    success: pageOf(HeldOutboxItem, "HeldOutboxPage"),
  }),
  role.admin.post("resetClock", "/agents/:agent_id/checks/:check_id/reset-clock", check),
  role.admin.patch("titleCheck", "/checks/:agent_id/:check_id", { ...check, payload: TitleRequest }),
  role.admin.patch("titleAgent", "/agents/:agent_id", {
    params: Parameters.AgentPathParameters,
    payload: TitleRequest,
    success,
    error: [NotFound.wire, Conflict.wire],
  }),
  role.admin.delete("removeCheck", "/agents/:agent_id/checks/:check_id", check),
  role.read.get("explain", "/explain", {
    query: resources.CheckQuery,
    success: CheckExplanation,
    error: NotFound.wire,
  }),
  role.read.get("listHeldIncidents", "/incidents", {
    query: Parameters.HeldIncidentListParameters,
    success: pageOf(HeldIncident, "HeldIncidentPage"),
  }),
  role.read.get("showIncident", "/incidents/:id", {
    params: resources.IncidentPath,
    success: IncidentDetail,
    error: NotFound.wire,
  }),
  role.read.get("traceIncident", "/incidents/:id/trace", {
    params: resources.IncidentPath,
    success: IncidentTrace,
    error: NotFound.wire,
  }),
  // The changes that people made (docs/rules.md#audit).
  role.read.get("listAudit", "/audit", {
    query: AuditListParameters,
    success: pageOf(AuditEntry, "AuditPage"),
  }),
) {}

/** Operators' calls beyond the frozen contract, under /ops/v1; they may grow. */
export class OpsApi extends HttpApi.make("tocsin-ops")
  .add(DeclarationsApi, OperationsApi, NamedOperatorsApi, IncidentActionsApi, IntegrationsApi)
  .add(
    AnnouncementsApi,
    EnrolmentsApi,
    ExportApi,
    NumbersApi,
    PlaceWatchesApi,
    PolicyApi,
    PushApi,
    ReceiversApi,
    ReportApi,
    RotasApi,
    SessionsApi,
    SettingsApi,
    SignInApi,
    SilencesApi,
    StreamApi,
    WatchesApi,
  )
  .prefix("/ops/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Tocsin operations",
      version: "1.0.0",
      summary: "Operators' calls beyond the v1 API.",
    }),
  ) {}
