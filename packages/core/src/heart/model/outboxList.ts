import { comparing } from "../../kernel/engine/comparing.ts"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { NotificationType, type NotifierName, OutboxState } from "@tocsin/contract/formats/Status"
import { constant, fixed, type ListPart, type ListPlan, partition } from "../../kernel/model/ListPlan.ts"

export interface OutboxFilter {
  readonly state?: OutboxState | undefined
  readonly notifier?: NotifierName | undefined
  readonly event_type?: NotificationType | undefined
  /** Whether a hold was found on it when it was last examined. */
  readonly held?: boolean | undefined
}

/** The states that storages index notifications by: `held` is a part of pending. Those being sent are few. */
export const LISTED_STATES: ReadonlyArray<string> = [
  ...OutboxState.literals.filter((state) => state !== "sending"),
  "held",
]

/** The condition of their indexes, of a row `r` or another one. */
export const isListed = (row = "r"): string => `${row}.listed_state <> 'sending'`

const listedStatesOf = ({ held, state }: Pick<OutboxFilter, "held" | "state">): ReadonlyArray<string> => {
  const ofState =
    state === undefined
      ? LISTED_STATES
      : LISTED_STATES.filter((each) => (each === "held" ? "pending" : each) === state)
  return held === undefined ? ofState : ofState.filter((each) => (each === "held") === held)
}

export const planOutbox = ({ event_type, notifier, ...filter }: OutboxFilter): ListPlan => {
  const states = listedStatesOf(filter)
  const listed: ListPart = {
    fixed: fixed("notifier", notifier),
    partitions: [
      partition("listed_state", states),
      partition("event_type", event_type === undefined ? NotificationType.literals : [event_type]),
    ],
    conditions: [constant(isListed())],
  }
  const sending: ListPart = {
    fixed: [...fixed("notifier", notifier), ...fixed("event_type", event_type)],
    few: constant("r.state = 'sending'"),
    index: "outbox_leased",
    isSorted: true,
  }
  const hasSending = filter.held !== true && (filter.state ?? "sending") === "sending"
  const parts = [...(states.length > 0 ? [listed] : []), ...(hasSending ? [sending] : [])]
  return notifier === undefined ? { parts, occurring: "notifier" } : { parts }
}

interface Due {
  readonly id: string
  readonly is_backfill: boolean
  readonly next_attempt_at: Instant | undefined
}

/** Orders items that are due: the longest due first, those of a backfill after all others. */
export const byDueTime = comparing<Due>(
  (item) => Number(item.is_backfill),
  (item) => item.next_attempt_at ?? 0n,
  (item) => item.id,
)
