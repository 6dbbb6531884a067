import type * as Instant from "@tocsin/contract/formats/Instant"
import type { FiringCause, NotifierName } from "@tocsin/contract/formats/Status"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import type { Reason } from "../model/Reason.ts"
import type { HoldFacts } from "./decideHolds.ts"
import type { Holds } from "./Hold.ts"
import type { IncidentNaming } from "./nameReceivers.ts"

/** By what receivers are known to work, and since when: an attempt brings a firing once, a change or a test each time. */
export type RepairedReceivers = ReadonlyMap<
  NotifierName,
  { readonly at: Instant.Instant; readonly by: NonNullable<OutboxRecord["repaired_by"]> }
>

/** Everything that decides on the firings of an open incident. */
export interface FiringFacts extends HoldFacts {
  /** Its firings that are not discarded. */
  readonly firings: ReadonlyArray<OutboxRecord>
  /** These, and those that an acknowledgement's end discarded after an attempt, which counts. */
  readonly withReplaced: ReadonlyArray<OutboxRecord>
  /** Absent while no loud member is present. */
  readonly naming: IncidentNaming | undefined
  /** Until when agents may still have to report from an outage. */
  readonly graceUntil: Instant.Instant | undefined
  readonly receivers: { readonly has: (receiver: NotifierName) => boolean }
  /** The receivers that were found to work just now. */
  readonly repaired?: RepairedReceivers | undefined
  /** When the policy came into force here. */
  readonly policySince?: Instant.Instant | undefined
  /** Whether an evaluation may find a receiver that is owed a firing. Without routes, only a loud event does. */
  readonly hasRoutes: boolean
  /** Whether the policy has a step whose delay may begin again. */
  readonly hasLaterSteps: boolean
}

export interface NewFiring {
  readonly receiver: NotifierName
  readonly cause: FiringCause
  readonly must_send: boolean
  /** Whether it is owed by a policy or a label, not by an event or in time. */
  readonly is_backfill?: boolean
  /** The rotas that named its receiver. */
  readonly rotas?: ReadonlyArray<NotifierName> | undefined
  readonly why?: Reason | undefined
  readonly repaired_by?: OutboxRecord["repaired_by"]
  readonly holds: Holds
}

/** A firing that waits, and what becomes of it. */
export type HeldFiring =
  | {
      readonly item: OutboxRecord
      readonly becomes: "held"
      readonly holds: Holds
      /** Whether its cause is another now. */
      readonly isRestated: boolean
    }
  | { readonly item: OutboxRecord; readonly becomes: "due"; readonly past: Holds["past"] }
  /** One that nothing holds has another cause now. */
  | { readonly item: OutboxRecord; readonly becomes: "restated" }
  | { readonly item: OutboxRecord; readonly becomes: "discarded"; readonly because: "coalesced" | "unnamed" }

export interface Evaluation {
  readonly written: ReadonlyArray<NewFiring>
  readonly held: ReadonlyArray<HeldFiring>
  /** The last end of a hold or an acknowledgement, after which steps begin; with one that this evaluation finds. */
  readonly steps_began_at: Instant.Instant | undefined
  /** When the next step or reminder is due, or the acknowledgement ends. */
  readonly nextEvaluationAt: Instant.Instant | undefined
}
