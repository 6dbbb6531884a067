import { Schema } from "effect"
import { Hostname } from "./Hostname.ts"
import { AgentId, BlacklistId, KeyFingerprint } from "./Identifiers.ts"
import { timestamp } from "./timestamp.ts"

/** A blocked agent key. */
export const AgentBlacklistItem = Schema.Struct({
  id: BlacklistId.annotateKey({ description: "Opaque; what deletes the row." }),
  key_fingerprint: KeyFingerprint.annotateKey({ description: "The value to show to humans." }),
  agent_id: AgentId,
  hostname: Hostname,
  created_at: timestamp("When the key was blocked."),
  last_seen_at: timestamp("When the key was last used, to within a minute."),
}).annotate({ identifier: "AgentBlacklistItem", description: "A blocked agent key." })
export type AgentBlacklistItem = typeof AgentBlacklistItem.Type
