import type * as Instant from "@tocsin/contract/formats/Instant"
import type { HeldCount } from "@tocsin/contract/trial/PolicyTrial"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Context, type Effect } from "effect"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"

/** A policy with the receivers that it does not define. */
export type TriedPolicy = Pick<RuleOptions, "policy" | "notifiers">

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

export interface TrialRequest extends Pick<RuleOptions, "staleAfter"> {
  readonly inForce: TriedPolicy
  readonly tried: TriedPolicy
  /** Messages are counted from here on. */
  readonly since: Instant.Instant
  readonly until: Instant.Instant
  /** How many results are read at most: the newest. */
  readonly most: number
}

export interface TrialCounts {
  readonly inForce: PolicyCounts
  readonly tried: PolicyCounts
  readonly past: ReadPast
}

/**
 * Plays two policies on the history of the storage, beside the work of this process; interruption ends
 * it. Absent where the history cannot be read apart from the service (docs/rules.md#policy).
 */
export type HistoryTrial = (request: TrialRequest) => Effect.Effect<TrialCounts, StorageError>

export const HistoryTrial = Context.Reference<HistoryTrial | undefined>(
  "@tocsin/core/features/trial/HistoryTrial",
  { defaultValue: () => undefined },
)
