import { Agent, SystemSummary } from "../Resources.ts"
import * as Parameters from "../Parameters.ts"
import * as Responses from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { NotFound } from "./ApiErrors.ts"
import { IgnoredBody, operationsOf, OperatorAuthentication, ValidParameters } from "./operation.ts"

const agents = operationsOf("Agents")
const admission = operationsOf("Admission")
const checks = operationsOf("Checks")
const incidents = operationsOf("Incidents")
const notifications = operationsOf("Notifications")

const params = Parameters.AgentPathParameters
const success = Responses.ActionCountResponse

const getAgent = HttpApiEndpoint.get("getAgent", "/agents/:agent_id", {
  params,
  success: Agent,
  error: NotFound.wire,
}).annotateMerge(
  agents.read("Show one agent", "Shows one agent; its status is computed from when it was last seen."),
)

const deleteAgent = HttpApiEndpoint.delete("deleteAgent", "/agents/:agent_id", {
  params,
  success,
  error: NotFound.wire,
}).annotateMerge(
  agents.admin(
    "Delete an agent and all that it owns",
    "Deletes an agent with its keys, checks and history, immediately for every reader. Incidents and notifications stay on record. A later heartbeat registers the agent again, as pending.",
  ),
)

const acceptAgent = HttpApiEndpoint.post("acceptAgent", "/agents/:agent_id/accept", {
  params,
  success,
  error: NotFound.wire,
}).annotateMerge(
  admission.admin(
    "Accept the pending key of one agent",
    "Accepts the agent's pending key, so that its events count. A replacement key replaces the accepted one. Without a pending key the count is 0. Safe to repeat.",
  ),
)

const blockAgent = HttpApiEndpoint.post("blockAgent", "/agents/:agent_id/block", {
  params,
  success,
  error: NotFound.wire,
}).annotateMerge(
  admission.admin(
    "Block the pending key of one agent, or else its accepted one",
    "Blocks the agent's pending key, or else its accepted one, and puts it on the blacklist. An agent left without a key is deleted. **Not safe to repeat**: a second call may block the accepted key after the pending one.",
  ),
)

const acceptAll = HttpApiEndpoint.post("acceptAll", "/agents/admission/accept-all", {
  query: Parameters.AcceptAllParameters,
  success,
}).annotateMerge(
  admission.admin(
    "Accept all pending agents",
    "Accepts all pending agents; with include_rotation, replacement keys of accepted agents as well.",
  ),
)

const blockAll = HttpApiEndpoint.post("blockAll", "/agents/admission/block-all", { success }).annotateMerge(
  admission.admin(
    "Block all pending keys",
    "Blocks every pending key, replacement keys included, and puts them on the blacklist.",
  ),
)

const removeAll = HttpApiEndpoint.post("removeAll", "/agents/admission/remove-all", {
  success,
}).annotateMerge(
  admission.admin(
    "Remove all pending agents",
    "Removes all pending agents. Their next heartbeats register them again.",
  ),
)

const listBlacklist = HttpApiEndpoint.get("listBlacklist", "/agents/admission/blacklist", {
  query: Parameters.BlacklistParameters,
  success: Responses.AgentBlacklistPage,
}).annotateMerge(
  admission.read("List blocked keys", "Lists blocked keys, newest first. This list goes forward only."),
)

const deleteBlacklist = HttpApiEndpoint.delete("deleteBlacklist", "/agents/admission/blacklist", {
  success,
}).annotateMerge(
  admission.admin(
    "Delete all rows of the blacklist",
    "Empties the blacklist. The next heartbeats of these keys register them again, as pending.",
  ),
)

const deleteBlacklistRow = HttpApiEndpoint.delete(
  "deleteBlacklistRow",
  "/agents/admission/blacklist/:key_id",
  {
    params: Parameters.BlacklistPathParameters,
    success,
  },
).annotateMerge(
  admission.admin(
    "Delete one row of the blacklist",
    "Removes one key from the blacklist. Its next heartbeat registers it again, as pending. If no row has the id, the count is 0.",
  ),
)

const listAgents = HttpApiEndpoint.get("listAgents", "/agents", {
  query: Parameters.AgentListParameters,
  success: Responses.AgentPage,
}).annotateMerge(agents.read("List agents", "Lists agents, accepted and pending, by agent_id."))

const listChecks = HttpApiEndpoint.get("listChecks", "/checks", {
  query: Parameters.CheckListParameters,
  success: Responses.CheckStatePage,
}).annotateMerge(
  checks.read(
    "List current check states",
    "Lists the current state of every check, by agent_id and check_id.",
  ),
)

const listIncidents = HttpApiEndpoint.get("listIncidents", "/incidents", {
  query: Parameters.IncidentListParameters,
  success: Responses.IncidentPage,
}).annotateMerge(
  incidents.read(
    "List incidents",
    "Lists incidents. By status and descending, which is the default, open ones come first, the most severe of them first, then the newest. agent_id and check_id find every incident in which such a check is or was a member.",
  ),
)

const queryEvents = HttpApiEndpoint.get("queryEvents", "/events/query", {
  query: Parameters.EventListParameters,
  success: Responses.StoredCheckResultEventPage,
}).annotateMerge(
  checks.read(
    "List changes of check results",
    "Lists the results that changed their checks, newest stored first.",
  ),
)

const getSummary = HttpApiEndpoint.get("getSummary", "/system-summary", {
  success: SystemSummary,
}).annotateMerge(
  checks.read(
    "Count agents, checks and open incidents; safe to poll",
    "Counts agents, checks and open incidents. Its size does not depend on them: safe to poll.",
  ),
)

const listOutbox = HttpApiEndpoint.get("listOutbox", "/notifiers/outbox", {
  query: Parameters.OutboxListParameters,
  success: Responses.NotificationOutboxPage,
}).annotateMerge(notifications.read("List notifications", "Lists notifications: pending, retried and ended."))

/** Operators' reads and decisions (docs/rules.md#lists, docs/rules.md#accept-block-remove). */
export class OperatorsApi extends HttpApiGroup.make("operators")
  .add(listAgents, getAgent, deleteAgent, acceptAgent, blockAgent)
  .add(acceptAll, blockAll, removeAll, listBlacklist, deleteBlacklist, deleteBlacklistRow)
  .add(listChecks, listIncidents, queryEvents, getSummary, listOutbox)
  // The last one is the first that a request meets.
  .middleware(ValidParameters)
  .middleware(IgnoredBody)
  .middleware(OperatorAuthentication) {}
