import { csvColumns } from "@tocsin/contract/formats/csvText"
import { OutboxId } from "@tocsin/contract/formats/Identifiers"
import { NotificationType, NotifierName, OutboxState } from "@tocsin/contract/formats/Status"
import { Incidents } from "@tocsin/core/heart/usecases/Incidents"
import { Queries } from "@tocsin/core/lists/Queries"
import { Effect, Layer, Schema, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { notFound, refusal, usageFailure } from "../CommandFailure.ts"
import { confirm } from "../output/Output.ts"
import { ageText, type Column } from "../output/texts.ts"
import { itemsOf, writeList } from "../output/writeList.ts"
import { actOn, actOnEach, listOn } from "./define.ts"
import * as flags from "./flags.ts"
import { ERROR_COLUMN, type HeldItem, NOTIFICATION } from "./notificationColumns.ts"

const senders = {
  notifier: flags.id("notifier", NotifierName, "Only notifications of this notifier, also one of a module"),
  receiver: flags.id("receiver", NotifierName, "Only notifications to this receiver"),
}

interface Senders {
  readonly notifier: NotifierName | undefined
  readonly receiver: NotifierName | undefined
}

/** All failed notifications, read before the first replay: one that fails again would be listed again. */
const failedIds = Effect.fnUntraced(function* (filters: Senders) {
  const queries = yield* Queries
  const items = itemsOf((page) =>
    queries.outbox({ ...page, ...filters, state: "failed", sort: "created_at", direction: "asc" }),
  )
  return yield* Stream.runCollect(Stream.map(items, ({ id }) => id))
})

const isOutboxId = Schema.is(OutboxId)

const replay = actOn(Layer.merge(Incidents.layer, Queries.layer))({
  name: "replay",
  description: "Send failed notifications again, with the same IDs",
  parameters: {
    ids: flags
      .argument("NOTIFICATION", "IDs of failed notifications, as tocsin outbox --state failed shows them")
      .pipe(Argument.variadic()),
    all: flags.flag("all", "Every failed notification"),
    ...senders,
    yes: flags.yes,
  },
  reads: Effect.fnUntraced(function* ({ ids, all, notifier, receiver, yes }) {
    if (all === ids.length > 0) return yield* usageFailure("name notifications or use --all, but not both")
    if ((notifier ?? receiver) !== undefined && !all)
      return yield* usageFailure("use --notifier and --receiver only with --all")
    const known = ids.filter(isOutboxId)
    if (known.length < ids.length) {
      return yield* usageFailure("a notification ID is a lower-case UUID: list IDs with tocsin outbox")
    }
    if (all) yield* confirm("this sends every failed notification again, old ones too", yes)
    return known
  }),
})(function* (named, { all, notifier, receiver }) {
  const { replay: send } = yield* Incidents
  const ids = all ? yield* failedIds({ notifier, receiver }) : named
  const { items, failure } = yield* actOnEach(ids, (id) =>
    Effect.catchTags(send(id), {
      NotFound: () =>
        notFound(`there is no notification ${id}: list failed ones with tocsin outbox --state failed`),
      StateConflict: ({ message }) => refusal(`${id}: ${message}`),
    }),
  )
  const replayed = items.filter(({ count }) => count > 0)
  if (!all) {
    const text = replayed.map(({ id }) => `${id}: will be sent again\n`).join("")
    return { answer: { items }, text, failure }
  }
  // It is no failure that some cannot be replayed because their incident is over.
  const left = items.filter(({ error }) => error !== null).length
  const leftOut = left === 0 ? "" : `; left out ${left}: replayed already, or the incident is over`
  return { answer: { items }, text: `${replayed.length} will be sent again${leftOut}\n` }
})

const release = actOn(Incidents.layer)({
  name: "release",
  description: "Send a held notification now, whatever holds it",
  parameters: {
    id: flags
      .argument("NOTIFICATION", "ID of a held notification, as tocsin outbox --held shows it")
      .pipe(Argument.withSchema(OutboxId)),
  },
  refused: {
    NotFound: ({ id }) =>
      notFound(`there is no notification ${id}: list held ones with tocsin outbox --held`),
    StateConflict: ({ id }) => refusal(`${id}: nothing holds this notification`),
  },
})(function* ({ id }) {
  const { count } = yield* Incidents.use((operations) => operations.release(id))
  return { answer: { count }, text: `${id}: is sent now\n` }
})

interface ShadowCount extends Pick<HeldItem, "receiver" | "event_type" | "cause"> {
  readonly count: number
}

const SHADOW_COLUMNS: ReadonlyArray<Column<ShadowCount>> = [
  { title: "RECEIVER", cell: ({ receiver }) => receiver },
  { title: "EVENT", cell: ({ event_type }) => event_type },
  { title: "CAUSE", cell: ({ cause }) => cause ?? "" },
  { title: "COUNT", cell: ({ count }) => String(count), align: "right" },
]

/** How many notifications shadow receivers would have been sent, by receiver, event and cause. */
const shadowCounts = Effect.fnUntraced(function* (filters: Senders) {
  const { outbox } = yield* Incidents
  const items = itemsOf((page) =>
    outbox({ ...page, ...filters, state: "discarded", sort: "created_at", direction: "asc" }),
  )
  const counts = new Map<string, ShadowCount>()
  yield* Stream.runForEach(items, ({ cause, event_type, last_error, receiver }) =>
    Effect.sync(() => {
      if (last_error !== "shadow") return
      const name = [receiver, event_type, cause].join()
      const count = (counts.get(name)?.count ?? 0) + 1
      counts.set(name, { receiver, event_type, cause, count })
    }),
  )
  return Array.from(counts.values()).toSorted((a, b) => (a.receiver < b.receiver ? -1 : b.count - a.count))
})

export const outbox = listOn(Incidents.layer)({
  name: "outbox",
  description: "List notifications, send failed ones again, or held ones now",
  examples: ["tocsin outbox --state failed", "tocsin outbox replay --all"],
  filters: {
    state: flags.filter(
      "state",
      OutboxState.literals,
      "Only notifications of this state; failed ones are dead letters",
    ),
    ...senders,
    event_type: flags.filter("event-type", NotificationType.literals, "Only notifications of this event"),
    held: flags.flag("held", "Only notifications that are held"),
    shadow: flags.flag("shadow", "Count what shadow receivers would have been sent, instead"),
    sort: flags.choice("sort", ["updated_at", "created_at"], "Order by"),
    direction: flags.choice("direction", ["desc", "asc"], "Direction"),
  },
  query: ({ held, shadow: _shadow, ...filters }, page) =>
    Incidents.use((operations) => operations.outbox({ ...filters, ...page, held: held || undefined })),
  instead: ({ notifier, receiver, shadow }, shown) => {
    if (!shadow) return undefined
    const items = Stream.unwrap(Effect.map(shadowCounts({ notifier, receiver }), Stream.fromIterable))
    return writeList(
      {
        items,
        columns: SHADOW_COLUMNS,
        of: "notifications of shadow receivers",
        csv: "receiver event_type cause count",
      },
      shown,
    )
  },
  columns: (now): ReadonlyArray<Column<HeldItem>> => [
    { title: "TITLE", cell: ({ title }) => title ?? "", isOptional: true, least: 12 },
    ...NOTIFICATION,
    { title: "NEXT", cell: ({ held_until, next_attempt_at }) => ageText(next_attempt_at ?? held_until, now) },
    { title: "UPDATED", cell: ({ updated_at }) => ageText(updated_at, now), align: "right" },
    { title: "HELD BY", cell: ({ held_by, why = "" }) => held_by.join(", ") || why },
    ERROR_COLUMN,
  ],
  of: "notifications",
  csv: csvColumns.outbox,
}).pipe(Command.withSubcommands([replay, release]))
