import type { AgentFeatures } from "./AgentFeatures.ts"
import type { HeartbeatRequest } from "./HeartbeatRequest.ts"
import { isHostname } from "./Hostname.ts"
import { isAgentId } from "./Identifiers.ts"
import * as Instant from "./Instant.ts"
import { isLabels } from "./Labels.ts"

type Unknown<Fields> = { readonly [Name in keyof Fields]?: unknown }

const REQUIRED_FIELDS = 4
const FIELDS_OF_FEATURES = 2

const readFeatures = (value: unknown): AgentFeatures | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const { push, metrics }: Unknown<AgentFeatures> = value
  if (typeof push !== "boolean" || typeof metrics !== "boolean") return undefined
  return Object.keys(value).length === FIELDS_OF_FEATURES ? { push, metrics } : undefined
}

/**
 * Decodes the body of POST /api/v1/heartbeat as the schema HeartbeatRequest does, in a fraction of the time. `undefined` for a
 * body that does not fit; the schema then says why.
 */
export const readHeartbeat = (body: unknown): HeartbeatRequest | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const { agent_id, observed_at: time, hostname, features: said, labels }: Unknown<HeartbeatRequest> = body
  const observed_at = typeof time === "string" ? Instant.parse(time) : undefined
  const features = readFeatures(said)
  if (!isAgentId(agent_id) || !isHostname(hostname)) return undefined
  if (observed_at === undefined || features === undefined) return undefined
  const fields = Object.keys(body).length
  if (labels === undefined) {
    return fields === REQUIRED_FIELDS ? { agent_id, observed_at, hostname, features } : undefined
  }
  return fields === REQUIRED_FIELDS + 1 && isLabels(labels)
    ? { agent_id, observed_at, hostname, features, labels }
    : undefined
}
