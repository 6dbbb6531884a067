import type { AgentId, BlacklistId, KeyFingerprint, KeyHash } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"

interface AgentKeyFields {
  readonly key_hash: KeyHash
  readonly key_fingerprint: KeyFingerprint
  /** The one agent id that this key speaks for (docs/rules.md#what-is-stored-of-a-key). */
  readonly agent_id: AgentId
  readonly created_at: Instant
  readonly last_seen_at: Instant
}

/** A key that an agent holds or held. */
export interface AgentsKeyRecord extends AgentKeyFields {
  readonly state: "pending" | "accepted" | "superseded"
}

/** A blocked key: a row of the blacklist. It outlives its agent (docs/rules.md#agent-keys). */
export interface BlockedKeyRecord extends AgentKeyFields {
  readonly state: "blocked"
  readonly blacklist_id: BlacklistId
  readonly blocked_at: Instant
  /** The agent's hostname when the key was blocked. */
  readonly hostname: string
}

/** One agent key as stored; never the key itself (docs/rules.md#tokens). */
export type AgentKeyRecord = AgentsKeyRecord | BlockedKeyRecord
