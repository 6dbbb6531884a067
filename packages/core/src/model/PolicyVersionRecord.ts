import type { Instant } from "@tocsin/contract/Instant"
import { instant, integer, type KeyedShape, text } from "./TableShape.ts"

/** A policy that was applied (docs/rules.md#a-stored-policy). The newest one is in force. */
export interface PolicyVersionRecord {
  /** Counts from 1. */
  readonly version: number
  readonly hash: string
  /** As it was given: YAML or JSON. */
  readonly text: string
  readonly applied_at: Instant
  readonly applied_by: string
}

/** How many versions are kept. */
export const KEPT_VERSIONS = 100

/** Its table. All versions are one group: transactions that apply a policy wait for one another. */
export const policy_version: KeyedShape<PolicyVersionRecord, readonly ["version"], readonly []> = {
  name: "policy_version",
  key: ["version"],
  group: [],
  locks: "groups",
  columns: { version: integer, hash: text, text, applied_at: instant, applied_by: text },
}
