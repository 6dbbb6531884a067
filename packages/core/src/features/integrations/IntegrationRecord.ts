import type { AgentId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { IntegrationOptions, ShownKind } from "@tocsin/contract/integrations/Integrations"
import { isValidSecret } from "../../kernel/model/replacedSecret.ts"
import {
  array,
  instant,
  keyedTable,
  object,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"

/** A server that sends alerts; times are in microseconds since 1970. */
export interface AlertSource {
  /** Its origin and path prefix; empty for alerts that state none. */
  readonly source: string
  /** When it was first heard of those times that no silence of `resend` separates. */
  readonly since: number
  readonly heard_at: number
}

/**
 * One integration as stored; the agent of its name has its checks (docs/rules.md#integrations). The lock of that
 * agent guards the row, except that one creates both.
 */
export const integration = keyedTable({
  name: "integration",
  key: ["name"],
  locks: "rows",
  group: [],
  list: { name: "integrations", orders: { name: ["name"] } },
  columns: {
    name: text<AgentId>(),
    title: orUndefined(text()),
    kind: text<ShownKind>(),
    options: object<IntegrationOptions>(),
    /** The hash of its key; absent while it is closed. */
    key_hash: orUndefined(text<KeyHash>()),
    /** The key before the last rotation, while it is still valid. */
    former_key_hash: orUndefined(text<KeyHash>()),
    former_valid_until: orUndefined(instant),
    created_at: instant,
    created_by: text(),
    /** Recorded every 15 s at most, as is the refusal. */
    last_request_at: orUndefined(instant),
    last_refused_at: orUndefined(instant),
    last_refusal: orUndefined(text()),
    /** The sources of its alerts, the last heard first. */
    sources: array<AlertSource>(),
  },
})
export type IntegrationRecord = RecordOf<typeof integration>

export const isValidKey = (row: IntegrationRecord, hash: KeyHash, now: Instant): boolean => {
  const { former_key_hash: former, former_valid_until, key_hash: present } = row
  return isValidSecret(hash, now, { present, former, former_valid_until })
}
