import type { AgentId, KeyHash } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { IntegrationOptions, ShownKind } from "@tocsin/contract/Integrations"
import { array, instant, object, orUndefined, text } from "./columns.ts"
import { isValidSecret } from "./replacedSecret.ts"
import type { KeyedShape } from "./TableShape.ts"

/** A server that sends alerts; times are in microseconds since 1970. */
export interface AlertSource {
  /** Its origin and path prefix; empty for alerts that state none. */
  readonly source: string
  /** When it was first heard of those times that no silence of `resend` separates. */
  readonly since: number
  readonly heard_at: number
}

/** One integration as stored; the agent of its name has its checks (docs/rules.md#integrations). */
export interface IntegrationRecord {
  readonly name: AgentId
  readonly kind: ShownKind
  readonly options: IntegrationOptions
  /** The hash of its key; absent while it is closed. */
  readonly key_hash: KeyHash | undefined
  /** The key before the last rotation, while it is still valid. */
  readonly former_key_hash: KeyHash | undefined
  readonly former_valid_until: Instant | undefined
  readonly created_at: Instant
  readonly created_by: string
  /** Recorded every 15 s at most, as is the refusal. */
  readonly last_request_at: Instant | undefined
  readonly last_refused_at: Instant | undefined
  readonly last_refusal: string | undefined
  /** The sources of its alerts, the last heard first. */
  readonly sources: ReadonlyArray<AlertSource>
}

/** Whether a key with this hash is valid for an integration at this moment. */
export const isValidKey = (integration: IntegrationRecord, hash: KeyHash, now: Instant): boolean => {
  const { former_key_hash: former, former_valid_until, key_hash: present } = integration
  return isValidSecret(hash, now, { present, former, former_valid_until })
}

/** Its table. The lock of its agent guards its rows, except that one creates both. */
export const integration: KeyedShape<IntegrationRecord, readonly ["name"], readonly []> = {
  name: "integration",
  key: ["name"],
  locks: "rows",
  group: [],
  columns: {
    name: text,
    kind: text,
    options: object,
    key_hash: orUndefined(text),
    former_key_hash: orUndefined(text),
    former_valid_until: orUndefined(instant),
    created_at: instant,
    created_by: text,
    last_request_at: orUndefined(instant),
    last_refused_at: orUndefined(instant),
    last_refusal: orUndefined(text),
    sources: array,
  },
}
