import { Agent, SystemSummary } from "@tocsin/core/contract/Resources"
import * as Parameters from "@tocsin/core/contract/Parameters"
import * as Responses from "@tocsin/core/contract/Responses"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Internal, NotFound } from "./ApiErrors.ts"
import { OperatorAuthentication } from "./Authentication.ts"
import { IgnoredBody, ValidParameters } from "./RequestRules.ts"

const error = Internal.wire
const ofOneAgent = [Internal.wire, NotFound.wire] as const
const params = Parameters.AgentPathParameters
const success = Responses.ActionCountResponse

const getAgent = HttpApiEndpoint.get("getAgent", "/agents/:agent_id", {
  params,
  success: Agent,
  error: ofOneAgent,
}).annotate(OpenApi.Summary, "Show one agent")

const deleteAgent = HttpApiEndpoint.delete("deleteAgent", "/agents/:agent_id", {
  params,
  success,
  error: ofOneAgent,
}).annotate(OpenApi.Summary, "Delete an agent and all that it owns")

const acceptAgent = HttpApiEndpoint.post("acceptAgent", "/agents/:agent_id/accept", {
  params,
  success,
  error: ofOneAgent,
}).annotate(OpenApi.Summary, "Accept the pending key of one agent")

const blockAgent = HttpApiEndpoint.post("blockAgent", "/agents/:agent_id/block", {
  params,
  success,
  error: ofOneAgent,
}).annotateMerge(
  OpenApi.annotations({
    summary: "Block the pending key of one agent, or else its accepted one",
    description: "Not safe to repeat: the second time it may block the accepted key.",
  }),
)

const acceptAll = HttpApiEndpoint.post("acceptAll", "/agents/admission/accept-all", {
  query: Parameters.AcceptAllParameters,
  success,
  error,
}).annotate(OpenApi.Summary, "Accept all pending agents")

const blockAll = HttpApiEndpoint.post("blockAll", "/agents/admission/block-all", {
  success,
  error,
}).annotate(OpenApi.Summary, "Block all pending keys")

const removeAll = HttpApiEndpoint.post("removeAll", "/agents/admission/remove-all", {
  success,
  error,
}).annotate(OpenApi.Summary, "Remove all pending agents")

const listBlacklist = HttpApiEndpoint.get("listBlacklist", "/agents/admission/blacklist", {
  query: Parameters.BlacklistParameters,
  success: Responses.AgentBlacklistPage,
  error,
}).annotate(OpenApi.Summary, "List blocked keys")

const deleteBlacklist = HttpApiEndpoint.delete("deleteBlacklist", "/agents/admission/blacklist", {
  success,
  error,
}).annotate(OpenApi.Summary, "Delete all rows of the blacklist")

const deleteBlacklistRow = HttpApiEndpoint.delete(
  "deleteBlacklistRow",
  "/agents/admission/blacklist/:key_id",
  {
    params: Parameters.BlacklistPathParameters,
    success,
    error,
  },
).annotate(OpenApi.Summary, "Delete one row of the blacklist")

const listAgents = HttpApiEndpoint.get("listAgents", "/agents", {
  query: Parameters.AgentListParameters,
  success: Responses.AgentPage,
  error,
}).annotate(OpenApi.Summary, "List agents")

const listChecks = HttpApiEndpoint.get("listChecks", "/checks", {
  query: Parameters.CheckListParameters,
  success: Responses.CheckStatePage,
  error,
}).annotate(OpenApi.Summary, "List current check states")

const listIncidents = HttpApiEndpoint.get("listIncidents", "/incidents", {
  query: Parameters.IncidentListParameters,
  success: Responses.IncidentPage,
  error,
}).annotate(OpenApi.Summary, "List incidents")

const queryEvents = HttpApiEndpoint.get("queryEvents", "/events/query", {
  query: Parameters.EventListParameters,
  success: Responses.StoredCheckResultEventPage,
  error,
}).annotate(OpenApi.Summary, "List changes of check results")

const getSummary = HttpApiEndpoint.get("getSummary", "/system-summary", {
  success: SystemSummary,
  error,
}).annotate(OpenApi.Summary, "Count agents, checks and open incidents; safe to poll")

const listOutbox = HttpApiEndpoint.get("listOutbox", "/notifiers/outbox", {
  query: Parameters.OutboxListParameters,
  success: Responses.NotificationOutboxPage,
  error,
}).annotate(OpenApi.Summary, "List notifications")

/** What operators read and decide (docs/rules.md#tokens). */
export class OperatorsApi extends HttpApiGroup.make("operators")
  .add(listAgents, getAgent, deleteAgent, acceptAgent, blockAgent)
  .add(acceptAll, blockAll, removeAll, listBlacklist, deleteBlacklist, deleteBlacklistRow)
  .add(listChecks, listIncidents, queryEvents, getSummary, listOutbox)
  // The last one is the first that a request meets.
  .middleware(ValidParameters)
  .middleware(IgnoredBody)
  .middleware(OperatorAuthentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Operators",
      description: "What operators read and decide, with an operator token.",
    }),
  ) {}
