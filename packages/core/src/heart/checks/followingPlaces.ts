import { Context } from "effect"
import type { CheckId, AgentId } from "@tocsin/contract/formats/Identifiers"
import type { Decision } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { CheckResult } from "./applyEvent.ts"
import type { EventOutcome } from "../model/CheckRecord.ts"

/** The results of a place about watches, in order, with what they did to its own checks. */
export interface PlaceResults {
  readonly place: AgentId
  readonly results: ReadonlyArray<{ readonly event: CheckResult; readonly outcome: EventOutcome }>
}

/** Follows results of places in the transaction that takes them (docs/rules.md#places). */
export interface FollowingPlaces {
  /** Loads what the results decide about. Comes first, because agents are locked before all else. */
  readonly prepare: (unit: UnitOfWork, check_ids: ReadonlyArray<CheckId>) => Decision<void>
  readonly follow: (unit: UnitOfWork, results: PlaceResults) => Decision<void>
}

/** Decides about watches by results of places; a process without watches has none. */
export const PlaceFollower = Context.Reference<FollowingPlaces | undefined>(
  "@tocsin/core/heart/checks/followingPlaces/PlaceFollower",
  { defaultValue: () => undefined },
)
