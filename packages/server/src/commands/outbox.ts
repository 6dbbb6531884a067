import * as Instant from "@tocsin/core/contract/Instant"
import type { NotificationOutboxItem } from "@tocsin/core/contract/Resources"
import { NotificationType, NotifierKind, OutboxState } from "@tocsin/core/contract/Status"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { ageText } from "../output/ageText.ts"
import type { Column } from "../output/makeTable.ts"
import { writeList } from "../output/writeList.ts"
import * as flags from "./flags.ts"
import { replay } from "./outbox/replay.ts"
import { useCases } from "./UseCases.ts"

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<NotificationOutboxItem>> => [
  { title: "NOTIFICATION", cell: (item) => item.id },
  { title: "NOTIFIER", cell: (item) => item.notifier },
  { title: "TELLS", cell: (item) => item.event_type },
  { title: "STATE", cell: (item) => item.state, isState: true },
  { title: "ATTEMPTS", cell: (item) => String(item.attempts), align: "right" },
  { title: "NEXT", cell: (item) => (item.next_attempt_at ? ageText(item.next_attempt_at, now) : "") },
  {
    title: "UPDATED",
    cell: (item) => (item.updated_at ? ageText(item.updated_at, now) : ""),
    align: "right",
  },
  { title: "LAST ERROR", cell: (item) => item.last_error ?? "", least: 16 },
]

/** `tocsin outbox` */
export const outbox = Command.make(
  "outbox",
  {
    state: Flag.Literals("state", OutboxState.literals).pipe(
      Flag.withDescription("Only notifications of this state; failed ones are dead letters"),
      Flag.optional,
    ),
    notifier: Flag.Literals("notifier", NotifierKind.literals).pipe(
      Flag.withDescription("Only notifications of this notifier"),
      Flag.optional,
    ),
    eventType: Flag.Literals("event-type", NotificationType.literals).pipe(
      Flag.withDescription("Only notifications that tell this"),
      Flag.optional,
    ),
    sort: Flag.Literals("sort", ["updated_at", "created_at"]).pipe(
      Flag.withDescription("What to order by (default: updated_at)"),
      Flag.withDefault("updated_at" as const),
    ),
    direction: flags.direction,
    limit: flags.limit,
    all: flags.all,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ sort, direction, ...given }) {
    const queries = yield* Queries
    const filters = {
      state: Option.getOrUndefined(given.state),
      notifier: Option.getOrUndefined(given.notifier),
      event_type: Option.getOrUndefined(given.eventType),
    }
    return yield* writeList(
      {
        page: (parameters) => queries.outbox({ ...filters, ...parameters, sort, direction }),
        columns: columnsAt(yield* Instant.now),
        of: "notifications",
      },
      given,
    )
  }, Effect.provide(useCases)),
).pipe(
  Command.withDescription("List notifications, or send failed ones again"),
  Command.withExamples([
    { command: "tocsin outbox --state failed" },
    { command: "tocsin outbox replay --all" },
  ]),
  Command.withSubcommands([replay]),
)
