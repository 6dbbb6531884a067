import type { EventId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import type { CheckRef } from "./CheckRef.ts"

type Event = Pick<
  CheckResultEvent,
  "check_id" | "duration_ms" | "observed_at" | "output" | "output_truncated"
>

/** Results in order of one agent, as they were committed. */
export interface NumberResults extends Omit<CheckRef, "check_id"> {
  readonly received_at: Instant
  readonly events: ReadonlyArray<Event & { readonly event_id: EventId | undefined }>
}

/** Results, or a check that was deleted: its series end. */
export type NumberInput = CheckRef | NumberResults
