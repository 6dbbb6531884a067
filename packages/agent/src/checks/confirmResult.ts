import type { Confirmation } from "../config/AgentConfig.ts"
import type { CheckStatus } from "../spool/CheckReport.ts"

/** Results in a row that speak for another status than the one that was reported. */
export interface SoftState {
  readonly hard: CheckStatus | undefined
  readonly against: number
}

/** A result after confirmation. */
export interface Confirmed {
  readonly state: SoftState
  /** Whether the result is reported; an unconfirmed one is not. */
  readonly isReported: boolean
}

/**
 * Decides whether a result is reported. A check that was well needs `bad` results in a row to turn;
 * one that was not needs `good` ones. Between two bad statuses nothing needs to be confirmed.
 */
export const confirmResult = (
  before: SoftState,
  status: CheckStatus,
  confirm: Confirmation | undefined,
): Confirmed => {
  const reported: Confirmed = { state: { hard: status, against: 0 }, isReported: true }
  if (confirm === undefined) return reported
  const [isOk, wasOk] = [status === "ok", before.hard === undefined || before.hard === "ok"]
  if (isOk === wasOk) return reported
  const against = before.against + 1
  return against >= (isOk ? confirm.good : confirm.bad)
    ? reported
    : { state: { hard: before.hard, against }, isReported: false }
}
