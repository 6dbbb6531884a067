import { Agent, SystemSummary } from "@tocsin/core/contract/Resources"
import * as Parameters from "@tocsin/core/contract/Parameters"
import * as Responses from "@tocsin/core/contract/Responses"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Internal, NotFound } from "./ApiErrors.ts"
import { OperatorAuthentication } from "./Authentication.ts"
import { IgnoredBody, ValidParameters } from "./RequestRules.ts"
import { operation } from "./operation.ts"
import { RequiredRole } from "./RequiredRole.ts"

const error = Internal.wire
const ofOneAgent = [Internal.wire, NotFound.wire] as const
const params = Parameters.AgentPathParameters
const success = Responses.ActionCountResponse

const getAgent = HttpApiEndpoint.get("getAgent", "/agents/:agent_id", {
  params,
  success: Agent,
  error: ofOneAgent,
})
  .annotateMerge(
    operation(
      "Agents",
      "Show one agent",
      "Shows one agent; its status is computed from when it was last seen.",
    ),
  )
  .annotate(RequiredRole, "read")

const deleteAgent = HttpApiEndpoint.delete("deleteAgent", "/agents/:agent_id", {
  params,
  success,
  error: ofOneAgent,
})
  .annotateMerge(
    operation(
      "Agents",
      "Delete an agent and all that it owns",
      "Deletes an agent with its keys, checks and history, immediately for every reader. Incidents and notifications stay on record. A later heartbeat registers the agent again, as pending.",
    ),
  )
  .annotate(RequiredRole, "admin")

const acceptAgent = HttpApiEndpoint.post("acceptAgent", "/agents/:agent_id/accept", {
  params,
  success,
  error: ofOneAgent,
})
  .annotateMerge(
    operation(
      "Admission",
      "Accept the pending key of one agent",
      "Accepts the agent's pending key, so that its events count. A replacement key replaces the accepted one. Without a pending key the count is 0. Safe to repeat.",
    ),
  )
  .annotate(RequiredRole, "admin")

const blockAgent = HttpApiEndpoint.post("blockAgent", "/agents/:agent_id/block", {
  params,
  success,
  error: ofOneAgent,
})
  .annotateMerge(
    operation(
      "Admission",
      "Block the pending key of one agent, or else its accepted one",
      "Blocks the agent's pending key, or else its accepted one, and puts it on the blacklist. An agent left without a key is deleted. **Not safe to repeat**: a second call may block the accepted key after the pending one.",
    ),
  )
  .annotate(RequiredRole, "admin")

const acceptAll = HttpApiEndpoint.post("acceptAll", "/agents/admission/accept-all", {
  query: Parameters.AcceptAllParameters,
  success,
  error,
})
  .annotateMerge(
    operation(
      "Admission",
      "Accept all pending agents",
      "Accepts all pending agents; with include_rotation, replacement keys of accepted agents as well.",
    ),
  )
  .annotate(RequiredRole, "admin")

const blockAll = HttpApiEndpoint.post("blockAll", "/agents/admission/block-all", {
  success,
  error,
})
  .annotateMerge(
    operation(
      "Admission",
      "Block all pending keys",
      "Blocks every pending key, replacement keys included, and puts them on the blacklist.",
    ),
  )
  .annotate(RequiredRole, "admin")

const removeAll = HttpApiEndpoint.post("removeAll", "/agents/admission/remove-all", {
  success,
  error,
})
  .annotateMerge(
    operation(
      "Admission",
      "Remove all pending agents",
      "Removes all pending agents. Their next heartbeats register them again.",
    ),
  )
  .annotate(RequiredRole, "admin")

const listBlacklist = HttpApiEndpoint.get("listBlacklist", "/agents/admission/blacklist", {
  query: Parameters.BlacklistParameters,
  success: Responses.AgentBlacklistPage,
  error,
})
  .annotateMerge(
    operation(
      "Admission",
      "List blocked keys",
      "Lists blocked keys, newest first. This list goes forward only.",
    ),
  )
  .annotate(RequiredRole, "read")

const deleteBlacklist = HttpApiEndpoint.delete("deleteBlacklist", "/agents/admission/blacklist", {
  success,
  error,
})
  .annotateMerge(
    operation(
      "Admission",
      "Delete all rows of the blacklist",
      "Empties the blacklist. The next heartbeats of these keys register them again, as pending.",
    ),
  )
  .annotate(RequiredRole, "admin")

const deleteBlacklistRow = HttpApiEndpoint.delete(
  "deleteBlacklistRow",
  "/agents/admission/blacklist/:key_id",
  {
    params: Parameters.BlacklistPathParameters,
    success,
    error,
  },
)
  .annotateMerge(
    operation(
      "Admission",
      "Delete one row of the blacklist",
      "Removes one key from the blacklist. Its next heartbeat registers it again, as pending. If no row has the id, the count is 0.",
    ),
  )
  .annotate(RequiredRole, "admin")

const listAgents = HttpApiEndpoint.get("listAgents", "/agents", {
  query: Parameters.AgentListParameters,
  success: Responses.AgentPage,
  error,
})
  .annotateMerge(operation("Agents", "List agents", "Lists agents, accepted and pending, by agent_id."))
  .annotate(RequiredRole, "read")

const listChecks = HttpApiEndpoint.get("listChecks", "/checks", {
  query: Parameters.CheckListParameters,
  success: Responses.CheckStatePage,
  error,
})
  .annotateMerge(
    operation(
      "Checks",
      "List current check states",
      "Lists the current state of every check, by agent_id and check_id.",
    ),
  )
  .annotate(RequiredRole, "read")

const listIncidents = HttpApiEndpoint.get("listIncidents", "/incidents", {
  query: Parameters.IncidentListParameters,
  success: Responses.IncidentPage,
  error,
})
  .annotateMerge(
    operation(
      "Incidents",
      "List incidents",
      "Lists incidents. By status and descending, which is the default, open ones come first, the most severe of them first, then the newest. agent_id and check_id find every incident in which such a check is or was a member.",
    ),
  )
  .annotate(RequiredRole, "read")

const queryEvents = HttpApiEndpoint.get("queryEvents", "/events/query", {
  query: Parameters.EventListParameters,
  success: Responses.StoredCheckResultEventPage,
  error,
})
  .annotateMerge(
    operation(
      "Checks",
      "List changes of check results",
      "Lists the results that changed their checks, newest stored first.",
    ),
  )
  .annotate(RequiredRole, "read")

const getSummary = HttpApiEndpoint.get("getSummary", "/system-summary", {
  success: SystemSummary,
  error,
})
  .annotateMerge(
    operation(
      "Checks",
      "Count agents, checks and open incidents; safe to poll",
      "Counts agents, checks and open incidents. Its size does not depend on them: safe to poll.",
    ),
  )
  .annotate(RequiredRole, "read")

const listOutbox = HttpApiEndpoint.get("listOutbox", "/notifiers/outbox", {
  query: Parameters.OutboxListParameters,
  success: Responses.NotificationOutboxPage,
  error,
})
  .annotateMerge(
    operation("Notifications", "List notifications", "Lists notifications: pending, retried and ended."),
  )
  .annotate(RequiredRole, "read")

/** What operators read and decide (docs/rules.md#lists, docs/rules.md#accept-block-remove). */
export class OperatorsApi extends HttpApiGroup.make("operators")
  .add(listAgents, getAgent, deleteAgent, acceptAgent, blockAgent)
  .add(acceptAll, blockAll, removeAll, listBlacklist, deleteBlacklist, deleteBlacklistRow)
  .add(listChecks, listIncidents, queryEvents, getSummary, listOutbox)
  // The last one is the first that a request meets.
  .middleware(ValidParameters)
  .middleware(IgnoredBody)
  .middleware(OperatorAuthentication) {}
