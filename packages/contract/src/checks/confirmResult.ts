import type { CheckStatus } from "../formats/Status.ts"
import { move, stateTable } from "../formats/TransitionTable.ts"

/**
 * Soft states of a check or a watch with `confirm`: a result is reported in `well` and `ill`, and withheld in
 * between.
 */
export const SoftTransitions = stateTable({
  well: {
    "ok_arrived -> well": "a result is ok | the result is reported",
    "bad_arrived -> worsening":
      "a result is not ok, and `bad` is more than 1 | an agent runs the check again after `confirm.every`",
    "bad_confirmed -> ill": "a result is not ok, and `bad` is 1 | the result is reported",
  },
  worsening: {
    "ok_arrived -> well": "a result is ok | the result is reported",
    "bad_arrived -> worsening":
      "a result is not ok, and fewer than `bad` in a row | an agent runs the check again after `confirm.every`",
    "bad_confirmed -> ill": "`bad` results in a row are not ok | the result is reported",
  },
  ill: {
    "bad_arrived -> ill": "a result is not ok, whichever status it has | the result is reported",
    "ok_arrived -> recovering":
      "a result is ok, and `good` is more than 1 | an agent runs the check again after `confirm.every`",
    "ok_confirmed -> well": "a result is ok, and `good` is 1 | the result is reported",
  },
  recovering: {
    "bad_arrived -> ill": "a result is not ok | the result is reported",
    "ok_arrived -> recovering":
      "a result is ok, and fewer than `good` in a row | an agent runs the check again after `confirm.every`",
    "ok_confirmed -> well": "`good` results in a row are ok | the result is reported",
  },
})

type SoftPlace = (typeof SoftTransitions)[number]["from"]

/** How many results in a row make a status count. */
export interface Confirmation {
  readonly bad: number
  readonly good: number
}

/** Where a check is between two confirmed statuses, and how many results in a row brought it there. */
export interface SoftState {
  readonly place: SoftPlace
  readonly against: number
}

interface Confirmed {
  readonly state: SoftState
  /** Whether the result is reported; an unconfirmed one is not. */
  readonly isReported: boolean
}

/**
 * The state of a check by its last reported status, and how many results in a row contradict it; one that
 * never reported counts as well.
 */
export const softStateOf = (status: CheckStatus | undefined, against = 0): SoftState => {
  const isWell = status === undefined || status === "ok"
  if (against === 0) return { place: isWell ? "well" : "ill", against }
  return { place: isWell ? "worsening" : "recovering", against }
}

/** Decides by the table whether a result is reported. */
export const confirmResult = (
  { place, against: before }: SoftState,
  status: CheckStatus,
  { bad, good }: Confirmation = { bad: 1, good: 1 },
): Confirmed => {
  const isOk = status === "ok"
  const isAgainst = isOk === (place === "ill" || place === "recovering")
  const against = isAgainst ? before + 1 : 0
  const isConfirmed = isAgainst && against >= (isOk ? good : bad)
  const next = move(SoftTransitions, place, `${isOk ? "ok" : "bad"}_${isConfirmed ? "confirmed" : "arrived"}`)
  const isReported = next === "well" || next === "ill"
  return { state: { place: next, against: isReported ? 0 : against }, isReported }
}
