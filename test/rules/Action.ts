import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { EventBatchRequest, HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import type { DeliveryTrigger } from "./deliver.ts"
import type { Rows } from "../service/Rows.ts"

/** A step of a scenario with everything it needs: selected rows, event IDs and times. */
export type Action =
  | { readonly action: "wait"; readonly millis: number }
  | { readonly action: "heartbeat"; readonly key: string; readonly request: HeartbeatRequest }
  | EventsAction
  | { readonly action: "accept" | "block" | "remove"; readonly agent_id: AgentId }
  | { readonly action: "accept_all"; readonly includeRotation: boolean }
  | { readonly action: "block_all" | "remove_all" | "unblock_all" | "purge" | "sweep" }
  | { readonly action: "unblock"; readonly id: string }
  | { readonly action: "restart"; readonly preseeded: boolean }
  | { readonly action: "reset_clock" | "remove_check"; readonly check: CheckRecord }
  | { readonly action: "deliver"; readonly item: OutboxRecord; readonly trigger: DeliveryTrigger }

/** A batch under an agent key. */
export interface EventsAction {
  readonly action: "events"
  readonly key: string
  readonly request: EventBatchRequest
}

/**
 * The reply: the body of a success, or the name of an error with its reason; nothing without a
 * caller.
 */
export type Reply =
  | { readonly accepted: boolean }
  | BatchReply
  | { readonly count: number }
  | string
  | undefined

/** The answer to a batch that was applied. */
export interface BatchReply {
  readonly accepted: number
  readonly deduplicated: number
}

/** An action, its reply, and all rows before and after it. */
export interface Observation<A extends Action = Action> {
  readonly action: A
  readonly now: Instant.Instant
  readonly rules: RuleOptions
  readonly reply: Reply
  readonly before: Rows
  readonly after: Rows
}

/** The answer to a batch; `undefined` where it is something else, or the batch was refused. */
export const batchReply = (reply: Reply): BatchReply | undefined =>
  typeof reply === "object" && "deduplicated" in reply ? reply : undefined
