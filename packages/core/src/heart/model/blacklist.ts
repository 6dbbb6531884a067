import { Struct } from "effect"
import type { AgentBlacklistItem } from "@tocsin/contract/v1/Resources"
import type { BlockedKeyRecord } from "./AgentRecord.ts"

export const toBlacklistItem = (record: BlockedKeyRecord): AgentBlacklistItem => ({
  id: record.blacklist_id,
  ...Struct.pick(record, ["key_fingerprint", "agent_id", "hostname"]),
  created_at: record.blocked_at,
  last_seen_at: record.last_seen_at,
})
