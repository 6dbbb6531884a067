import { Context, type Effect } from "effect"
import type * as Instant from "@tocsin/contract/Instant"
import type { HeldCount } from "@tocsin/contract/Policies"
import type { NotifierName } from "@tocsin/contract/Status"
import type { RuleOptions } from "./RuleSettings.ts"
import type { StorageError } from "./Storage.ts"

/** A policy with the receivers that it does not define. */
export type BacktestedPolicy = Pick<RuleOptions, "policy" | "notifiers">

/** The notifications that one policy would have sent. */
export interface PolicyCounts {
  /** Firings and resolutions by receiver; every receiver of the policy is there. */
  readonly messages: ReadonlyMap<NotifierName, number>
  readonly held: ReadonlyArray<HeldCount>
}

/** A summary of the history that was read. */
export interface ReadPast {
  readonly results: number
  /** The oldest result; absent without one. */
  readonly from: Instant.Instant | undefined
}

export interface BacktestRequest extends Pick<RuleOptions, "staleAfter"> {
  readonly inForce: BacktestedPolicy
  readonly tried: BacktestedPolicy
  /** Messages are counted from here on. */
  readonly since: Instant.Instant
  readonly until: Instant.Instant
  /** How many results are read at most: the newest. */
  readonly most: number
}

export interface Backtested {
  readonly inForce: PolicyCounts
  readonly tried: PolicyCounts
  readonly past: ReadPast
}

/**
 * Plays two policies on the history of the storage, beside the work of this process; interruption ends
 * it. Absent where the history cannot be read apart from the service (docs/rules.md#policy).
 */
export type PolicyBacktest = (request: BacktestRequest) => Effect.Effect<Backtested, StorageError>

export const PolicyBacktest = Context.Reference<PolicyBacktest | undefined>(
  "@tocsin/core/ports/PolicyBacktest",
  { defaultValue: () => undefined },
)
