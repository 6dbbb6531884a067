import { CheckPathParameters } from "@tocsin/core/contract/Parameters"
import { ActionCountResponse } from "@tocsin/core/contract/Responses"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Conflict, Internal, NotFound } from "./ApiErrors.ts"
import { OperatorAuthentication } from "./Authentication.ts"
import * as resources from "./opsResources.ts"
import { IgnoredBody, ValidParameters } from "./RequestRules.ts"

const success = ActionCountResponse
const error = [Internal.wire, NotFound.wire] as const

const replay = HttpApiEndpoint.post("replay", "/notifiers/outbox/:id/replay", {
  params: resources.OutboxPath,
  success,
  error: [Internal.wire, NotFound.wire, Conflict.wire],
}).annotate(OpenApi.Summary, "Send a failed notification again, with the same id")

const testNotifier = HttpApiEndpoint.post("testNotifier", "/notifiers/:notifier/test", {
  params: resources.NotifierPath,
  success: resources.NotifierTest,
  error,
}).annotate(OpenApi.Summary, "Send a test message now and tell what the receiver said")

const resetClock = HttpApiEndpoint.post("resetClock", "/agents/:agent_id/checks/:check_id/reset-clock", {
  params: CheckPathParameters,
  success,
  error,
}).annotate(OpenApi.Summary, "Release a check that a clock in the future froze")

const removeCheck = HttpApiEndpoint.delete("removeCheck", "/agents/:agent_id/checks/:check_id", {
  params: CheckPathParameters,
  success,
  error,
}).annotate(OpenApi.Summary, "Delete a check that its agent no longer runs, with its history")

const showIncident = HttpApiEndpoint.get("showIncident", "/incidents/:id", {
  params: resources.IncidentPath,
  success: resources.IncidentDetail,
  error,
}).annotate(OpenApi.Summary, "Show an incident with its members and its story")

const explain = HttpApiEndpoint.get("explain", "/explain", {
  query: resources.CheckQuery,
  success: resources.CheckExplanation,
  error,
}).annotate(OpenApi.Summary, "Tell why a check is in the state it is in")

class OperationsApi extends HttpApiGroup.make("operations")
  .add(replay, testNotifier, resetClock, removeCheck, showIncident, explain)
  // The last one is the first that a request meets.
  .middleware(ValidParameters)
  .middleware(IgnoredBody)
  .middleware(OperatorAuthentication) {}

/** What operators do beyond the frozen contract, under /ops/v1; it may grow. */
export class OpsApi extends HttpApi.make("tocsin-ops")
  .add(OperationsApi)
  .prefix("/ops/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Tocsin operations",
      version: "1.0.0",
      description: "What operators do beyond the v1 API: dead letters, tests, explanations.",
    }),
  ) {}
