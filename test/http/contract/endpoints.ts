import type { JsonSchema } from "../../openapi/OpenApi.ts"
import * as shapes from "./shapes.ts"

/** One row of the contract's endpoint table. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "DELETE"
  /** With `{agent_id}` and `{key_id}` where they stand. */
  readonly path: string
  readonly token: "none" | "agent key" | "UI token"
  readonly success: 200 | 202
  readonly shape: JsonSchema
  /** The other statuses of the row, each with its code. */
  readonly errors: ReadonlyArray<`${number} ${string}`>
}

const unauthorized = "401 unauthorized"
const notFound = "404 not_found"
const ui = "UI token"

const list = (path: string, shape: JsonSchema): Endpoint => ({
  method: "GET",
  path,
  token: ui,
  success: 200,
  shape,
  errors: [unauthorized],
})

const action = (method: "POST" | "DELETE", path: string, ...errors: Endpoint["errors"]): Endpoint => ({
  method,
  path,
  token: ui,
  success: 200,
  shape: shapes.actionCount,
  errors: [unauthorized, ...errors],
})

/** The contract's endpoint table, row by row. */
export const endpoints: ReadonlyArray<Endpoint> = [
  { method: "GET", path: "/api/v1/health", token: "none", success: 200, shape: shapes.health, errors: [] },
  {
    method: "GET",
    path: "/api/v1/ready",
    token: "none",
    success: 200,
    shape: shapes.health,
    errors: ["503 not_ready"],
  },
  {
    method: "POST",
    path: "/api/v1/heartbeat",
    token: "agent key",
    success: 202,
    shape: shapes.accepted,
    errors: [
      "400 validation",
      unauthorized,
      "403 agent_blocked",
      "409 conflict",
      "413 payload_too_large",
      "429 rate_limited",
      "500 internal",
    ],
  },
  {
    method: "POST",
    path: "/api/v1/events",
    token: "agent key",
    success: 202,
    shape: shapes.batchAccepted,
    errors: [
      "400 validation",
      unauthorized,
      "403 agent_blocked",
      "403 agent_not_accepted",
      "413 payload_too_large",
      "500 internal",
    ],
  },
  list("/api/v1/agents", shapes.agentPage),
  { ...list("/api/v1/agents/{agent_id}", shapes.agent), errors: [unauthorized, notFound] },
  action("DELETE", "/api/v1/agents/{agent_id}", notFound),
  action("POST", "/api/v1/agents/{agent_id}/accept", notFound),
  action("POST", "/api/v1/agents/{agent_id}/block", notFound),
  action("POST", "/api/v1/agents/admission/accept-all"),
  action("POST", "/api/v1/agents/admission/block-all"),
  action("POST", "/api/v1/agents/admission/remove-all"),
  list("/api/v1/agents/admission/blacklist", shapes.blacklistPage),
  action("DELETE", "/api/v1/agents/admission/blacklist"),
  action("DELETE", "/api/v1/agents/admission/blacklist/{key_id}"),
  list("/api/v1/checks", shapes.checkPage),
  list("/api/v1/incidents", shapes.incidentPage),
  list("/api/v1/events/query", shapes.historyPage),
  list("/api/v1/system-summary", shapes.summary),
  list("/api/v1/notifiers/outbox", shapes.outboxPage),
]

/** The name of a row in tests: its method and path. */
export const nameOf = ({ method, path }: Endpoint): string => `${method} ${path}`

const AGENT = "agent-of-the-table"
const KEY_ID = "f".repeat(64)

/** The path of a row with values for its parameters. */
export const pathOf = ({ path }: Endpoint, { agent_id = AGENT, key_id = KEY_ID } = {}): string =>
  path.replace("{agent_id}", encodeURIComponent(agent_id)).replace("{key_id}", encodeURIComponent(key_id))
