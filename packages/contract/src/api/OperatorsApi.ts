import { Agent, SystemSummary } from "../Resources.ts"
import * as Parameters from "../Parameters.ts"
import * as Responses from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { NotFound } from "./ApiErrors.ts"
import { IgnoredBody, RequiredRole, OperatorAuthentication, ValidParameters } from "./operation.ts"

const params = Parameters.AgentPathParameters
const success = Responses.ActionCountResponse

const getAgent = HttpApiEndpoint.get("getAgent", "/agents/:agent_id", {
  params,
  success: Agent,
  error: NotFound.wire,
}).annotate(RequiredRole, "read")

const deleteAgent = HttpApiEndpoint.delete("deleteAgent", "/agents/:agent_id", {
  params,
  success,
  error: NotFound.wire,
}).annotate(RequiredRole, "admin")

const acceptAgent = HttpApiEndpoint.post("acceptAgent", "/agents/:agent_id/accept", {
  params,
  success,
  error: NotFound.wire,
}).annotate(RequiredRole, "admin")

const blockAgent = HttpApiEndpoint.post("blockAgent", "/agents/:agent_id/block", {
  params,
  success,
  error: NotFound.wire,
}).annotate(RequiredRole, "admin")

const acceptAll = HttpApiEndpoint.post("acceptAll", "/agents/admission/accept-all", {
  query: Parameters.AcceptAllParameters,
  success,
}).annotate(RequiredRole, "admin")

const blockAll = HttpApiEndpoint.post("blockAll", "/agents/admission/block-all", { success }).annotate(
  RequiredRole,
  "admin",
)

const removeAll = HttpApiEndpoint.post("removeAll", "/agents/admission/remove-all", {
  success,
}).annotate(RequiredRole, "admin")

const listBlacklist = HttpApiEndpoint.get("listBlacklist", "/agents/admission/blacklist", {
  query: Parameters.BlacklistParameters,
  success: Responses.AgentBlacklistPage,
}).annotate(RequiredRole, "read")

const deleteBlacklist = HttpApiEndpoint.delete("deleteBlacklist", "/agents/admission/blacklist", {
  success,
}).annotate(RequiredRole, "admin")

const deleteBlacklistRow = HttpApiEndpoint.delete(
  "deleteBlacklistRow",
  "/agents/admission/blacklist/:key_id",
  {
    params: Parameters.BlacklistPathParameters,
    success,
  },
).annotate(RequiredRole, "admin")

const listAgents = HttpApiEndpoint.get("listAgents", "/agents", {
  query: Parameters.AgentListParameters,
  success: Responses.AgentPage,
}).annotate(RequiredRole, "read")

const listChecks = HttpApiEndpoint.get("listChecks", "/checks", {
  query: Parameters.CheckListParameters,
  success: Responses.CheckStatePage,
}).annotate(RequiredRole, "read")

const listIncidents = HttpApiEndpoint.get("listIncidents", "/incidents", {
  query: Parameters.IncidentListParameters,
  success: Responses.IncidentPage,
}).annotate(RequiredRole, "read")

const queryEvents = HttpApiEndpoint.get("queryEvents", "/events/query", {
  query: Parameters.EventListParameters,
  success: Responses.StoredCheckResultEventPage,
}).annotate(RequiredRole, "read")

const getSummary = HttpApiEndpoint.get("getSummary", "/system-summary", {
  success: SystemSummary,
}).annotate(RequiredRole, "read")

const listOutbox = HttpApiEndpoint.get("listOutbox", "/notifiers/outbox", {
  query: Parameters.OutboxListParameters,
  success: Responses.NotificationOutboxPage,
}).annotate(RequiredRole, "read")

/** Operators' reads and decisions (docs/rules.md#lists, docs/rules.md#accept-block-remove). */
export class OperatorsApi extends HttpApiGroup.make("operators")
  .add(listAgents, getAgent, deleteAgent, acceptAgent, blockAgent)
  .add(acceptAll, blockAll, removeAll, listBlacklist, deleteBlacklist, deleteBlacklistRow)
  .add(listChecks, listIncidents, queryEvents, getSummary, listOutbox)
  // The last one is the first that a request meets.
  .middleware(ValidParameters)
  .middleware(IgnoredBody)
  .middleware(OperatorAuthentication) {}
