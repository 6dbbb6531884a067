import type { Confirmation } from "../config/AgentConfig.ts"
import { move } from "@tocsin/contract/TransitionTable"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import { type SoftPlace, SoftTransitions } from "./SoftTransitions.ts"

/** Where a check is between two confirmed statuses, and how many results in a row brought it there. */
export interface SoftState {
  readonly place: SoftPlace
  readonly against: number
}

/** A result after confirmation. */
export interface Confirmed {
  readonly state: SoftState
  /** Whether the result is reported; an unconfirmed one is not. */
  readonly isReported: boolean
}

/** The state of a check by its last reported status; one that never reported counts as well. */
export const softStateOf = (status: CheckStatus | undefined): SoftState => ({
  place: status === undefined || status === "ok" ? "well" : "ill",
  against: 0,
})

/** Decides by the table whether a result is reported. */
export const confirmResult = (
  { place, against: before }: SoftState,
  status: CheckStatus,
  { bad, good }: Pick<Confirmation, "bad" | "good"> = { bad: 1, good: 1 },
): Confirmed => {
  const isOk = status === "ok"
  const isAgainst = isOk === (place === "ill" || place === "recovering")
  const against = isAgainst ? before + 1 : 0
  const isConfirmed = isAgainst && against >= (isOk ? good : bad)
  const next = move(SoftTransitions, place, `${isOk ? "ok" : "bad"}_${isConfirmed ? "confirmed" : "arrived"}`)
  const isReported = next === "well" || next === "ill"
  return { state: { place: next, against: isReported ? 0 : against }, isReported }
}
