import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Effect } from "effect"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import type { ListQuery } from "../../lists/ListDefinitions.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { commandOf, load } from "../../kernel/unitOfWork/Decision.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { MAX_AGE, wasRefused } from "./recordResults.ts"

/** Notes that a receiver took a test (docs/rules.md#on-call). */
export const noteTested = commandOf(function* (
  unit,
  receiver: NotifierName,
  newStamp: (now: Instant.Instant) => string,
) {
  const name = `tested ${receiver}` as const
  yield* load(unit, { rows: { change_stamp: [name] } })
  unit.raise(name, newStamp)
})

/** When receivers took their last test, by their names. */
export const testedReceivers = Effect.fnUntraced(function* (
  { rows }: Pick<Storage["Service"], "rows">,
  receivers: ReadonlyArray<NotifierName>,
) {
  const keys = receivers.map((receiver) => `tested ${receiver}` as const)
  const stamps = new Map((yield* rows("change_stamp", keys)).map(({ name, stamp }) => [name, stamp]))
  return new Map(
    receivers.flatMap((receiver) => {
      const stamp = stamps.get(`tested ${receiver}`)
      return stamp === undefined ? [] : [[receiver, timeIn(stamp)]]
    }),
  )
})

/** The time in an ID, to the millisecond. */
const timeIn = (id: string): Instant.Instant =>
  Instant.fromMillis(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16))

const newestIn = (state: OutboxRecord["state"]): ListQuery<"outbox"> => ({
  list: "outbox",
  filter: { state },
  sort: "created_at",
  direction: "desc",
})

/** Of these receivers, those that refused for good what they were sent last, and took no test since. */
export const refusingReceivers = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  receivers: ReadonlySet<NotifierName>,
) {
  const refusing = new Map<NotifierName, OutboxRecord>()
  yield* eachPage(storage, newestIn("failed"), (rows) => {
    for (const row of rows) {
      const known = refusing.get(row.receiver)
      if (receivers.has(row.receiver) && wasRefused(row) && row.updated_at > (known?.updated_at ?? 0n))
        refusing.set(row.receiver, row)
    }
  })
  const clear = (receiver: NotifierName, at: Instant.Instant): void => {
    if (at >= (refusing.get(receiver)?.updated_at ?? at)) refusing.delete(receiver)
  }
  for (const [receiver, at] of yield* testedReceivers(storage, Array.from(refusing.keys())))
    clear(receiver, at)
  yield* eachPage(storage, newestIn("sent"), (rows) => {
    for (const { receiver, updated_at } of rows) clear(receiver, updated_at)
    const oldest = Instant.earliest(Array.from(refusing.values(), ({ updated_at }) => updated_at))
    return oldest !== undefined && rows.every((row) => row.created_at >= Instant.minus(oldest, MAX_AGE))
  })
  return refusing
})
