import type { ErrorCode } from "@tocsin/core/contract/Errors"
import type { ErrorMessages, Example } from "./Documentation.ts"
import { REQUEST_ID } from "./story.ts"

/** A sentence of the service for each code. Tests compare them with what it says. */
const usual: Readonly<Record<ErrorCode, string>> = {
  validation: "agent_id must be 1 to 128 letters, digits or the characters . _ : -",
  unauthorized: "send the header Authorization: Bearer with a token of 1 to 512 visible ASCII characters",
  forbidden: "this token is read-only; use a token from SERVICE_AUTH_TOKEN",
  agent_blocked: "this agent key is blocked; to let it register again, delete its blacklist row",
  agent_not_accepted:
    "this agent key is not accepted for this agent_id; send a heartbeat, then have an operator accept the agent",
  not_found: "no agent has this agent_id; list agents with GET /api/v1/agents",
  conflict: "this agent key belongs to another agent_id; give each agent a key of its own",
  payload_too_large: "the request body must not be larger than 1 MiB (1048576 bytes)",
  rate_limited: "too many heartbeats; slow down and try again in 1 s",
  internal: "the storage is unreachable or refuses writes; try again later",
  not_ready: "the storage is unreachable or refuses writes, or the service is shutting down",
}

/** An error of a code as it is on the wire. */
export const errorExample = (code: ErrorCode, messages: ErrorMessages = {}): Example => ({
  summary: `An error with the code ${code}`,
  value: { error: { code, message: messages[code] ?? usual[code], request_id: REQUEST_ID } },
})
