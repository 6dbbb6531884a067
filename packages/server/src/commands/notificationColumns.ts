import type { Incidents } from "@tocsin/core/heart/usecases/Incidents"
import type { Effect } from "effect"
import type { Column } from "../output/texts.ts"

/** A notification with what holds it. */
export type HeldItem = Effect.Success<ReturnType<Incidents["Service"]["outbox"]>>["items"][number]

/** The columns of a notification, also in its incident. */
export const NOTIFICATION: ReadonlyArray<
  Column<Pick<HeldItem, "id" | "notifier" | "receiver" | "event_type" | "state" | "attempts">>
> = [
  { title: "NOTIFICATION", cell: (item) => item.id },
  { title: "NOTIFIER", cell: (item) => item.notifier },
  { title: "RECEIVER", cell: (item) => item.receiver },
  { title: "EVENT", cell: (item) => item.event_type },
  { title: "STATE", cell: (item) => item.state, isState: true },
  { title: "ATTEMPTS", cell: (item) => String(item.attempts), align: "right" },
]

export const ERROR_COLUMN: Column<Pick<HeldItem, "last_error">> = {
  title: "LAST ERROR",
  cell: (item) => item.last_error ?? "",
  least: 16,
}
