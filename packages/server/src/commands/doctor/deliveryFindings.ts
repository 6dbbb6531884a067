import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { LATE_AFTER, type NotificationMoments } from "@tocsin/core/heart/health/HealthExamination"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { ReplicaRecord } from "@tocsin/core/heart/model/ReplicaRecord"
import { eachPage } from "@tocsin/core/kernel/engine/lists/readPage"
import { isBounced, SERVICE_STOPPED } from "@tocsin/core/heart/notifications/recordResults"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { unusableReceivers } from "@tocsin/core/heart/replicas/listedReceivers"
import { Duration, Effect } from "effect"
import { ageText, plural } from "../../output/texts.ts"
import { attention, type Finding, type Findings, ok } from "./Finding.ts"

/** A receiver whose last attempt failed: since when its notifications wait for another one, and why. */
interface FailingReceiver {
  readonly receiver: NotifierName
  readonly since: Instant.Instant
  readonly latest: Instant.Instant
  readonly error: string
}

const LATEST_FIRST = { list: "outbox", sort: "updated_at", direction: "desc" } as const

/** Finds the receivers of waiting notifications that have taken no other one since. */
export const failingReceivers = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  receivers: ReadonlySet<NotifierName>,
) {
  const failing = new Map<NotifierName, FailingReceiver>()
  yield* eachPage(storage, { ...LATEST_FIRST, filter: { state: "retry" } }, (items) => {
    for (const { first_attempted_at, last_error: error, receiver, updated_at } of items) {
      if (error === undefined || error === SERVICE_STOPPED || !receivers.has(receiver)) continue
      const known = failing.get(receiver) ?? { receiver, latest: updated_at, error, since: updated_at }
      failing.set(receiver, { ...known, since: Instant.min(known.since, first_attempted_at ?? updated_at) })
    }
    return Effect.void
  })
  const oldest = Instant.earliest(Array.from(failing.values(), ({ latest }) => latest))
  if (oldest === undefined) return []
  yield* eachPage(storage, { ...LATEST_FIRST, filter: { state: "sent" } }, (items) => {
    for (const { receiver, updated_at } of items)
      if (updated_at > (failing.get(receiver)?.latest ?? updated_at)) failing.delete(receiver)
    return Effect.succeed(items.every(({ updated_at }) => updated_at > oldest))
  })
  return Array.from(failing.values())
})

/** How far back dead letters are read: a daily run of the doctor reports each. */
const DEAD_LETTERS_FOR = Duration.hours(25)

/**
 * Finds the dead letters of a day, without firings of which the receiver has taken a later one
 * (docs/rules.md#repaired-receivers).
 */
export const deadLetters = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  receivers: ReadonlyMap<NotifierName, unknown>,
  now: Instant.Instant,
) {
  const since = Instant.minus(now, DEAD_LETTERS_FOR)
  const dead: Array<
    Pick<OutboxRecord, "event_type" | "incident_id" | "notifier" | "receiver" | "updated_at">
  > = []
  yield* eachPage(storage, { ...LATEST_FIRST, filter: { state: "failed" } }, (items) => {
    dead.push(...items.filter(({ receiver, updated_at }) => updated_at > since && receivers.has(receiver)))
    return Effect.succeed(items.every(({ updated_at }) => updated_at > since))
  })
  const oldest = dead.at(-1)
  if (oldest === undefined) return []
  const taken = new Map<string, Instant.Instant>()
  yield* eachPage(storage, { ...LATEST_FIRST, filter: { state: "sent", event_type: "firing" } }, (items) => {
    for (const item of items) {
      const { incident_id, receiver, updated_at } = item
      if (isBounced(item)) continue
      const place = `${incident_id} ${receiver}`
      if (!taken.has(place)) taken.set(place, updated_at)
    }
    return Effect.succeed(items.every(({ updated_at }) => updated_at > oldest.updated_at))
  })
  return dead.flatMap(({ event_type, incident_id, notifier, receiver, updated_at: at }) =>
    event_type === "firing" && (taken.get(`${incident_id} ${receiver}`) ?? at) > at ? [] : { notifier, at },
  )
})

/** How much waits, and why no server can send it, where a server says so. */
type Waiting = { readonly count: number; readonly reason?: string }

/** Counts what waits for each receiver that no running server can use, also one that none lists any more. */
export const waitingForNone = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  live: ReadonlyArray<ReplicaRecord>,
  usable: ReadonlySet<NotifierName>,
) {
  const waiting = new Map<NotifierName, Waiting>()
  for (const { byNone, reason, receiver } of unusableReceivers(live))
    if (byNone) {
      // Servers may have different reasons.
      const before = waiting.get(receiver)?.reason
      waiting.set(receiver, { count: 0, reason: before === undefined ? reason : `${before}; ${reason}` })
    }
  for (const state of ["pending", "retry"] as const)
    yield* eachPage(storage, { ...LATEST_FIRST, filter: { state } }, (items) => {
      for (const { receiver } of items)
        if (!usable.has(receiver)) {
          const known = waiting.get(receiver)
          waiting.set(receiver, { ...known, count: (known?.count ?? 0) + 1 })
        }
      return Effect.void
    })
  return waiting
})

/** Reports failing receivers, late notifications, as a watchdog ping does, and the dead letters of a day. */
export const deliveryFindings = (
  {
    failing,
    givenUp,
    undelivered,
    waiting,
  }: NotificationMoments & {
    readonly failing: ReadonlyArray<FailingReceiver>
    readonly waiting: ReadonlyMap<NotifierName, Waiting>
  },
  now: Instant.Instant,
): Findings => {
  const late = undelivered.filter(({ at }) => at < Instant.minus(now, LATE_AFTER))
  const [oldest] = late.toSorted((a, b) => (a.at < b.at ? -1 : 1))
  const [latest] = givenUp.filter(({ at }) => at > Instant.minus(now, DEAD_LETTERS_FOR))
  const findings = failing.map(({ error, receiver, since }): Finding => {
    const text = `the receiver ${receiver} began to fail ${ageText(since, now)}, see tocsin outbox --state retry: ${error}`
    return attention("delivery", text)
  })
  for (const [receiver, { count, reason }] of waiting) {
    const waits = `${receiver} has ${plural(count, "notification")} waiting`
    findings.push(
      reason === undefined
        ? attention("delivery", `${waits}: give a server its secrets, or the module that gives it`)
        : attention("delivery", `${waits}: ${reason}`),
    )
  }
  if (oldest !== undefined) {
    const text = `a notification for ${oldest.notifier} of ${ageText(oldest.at, now)} is not delivered: see tocsin outbox --state retry`
    findings.push(attention("delivery", text))
  }
  if (latest !== undefined) {
    const text = `a notification for ${latest.notifier} failed ${ageText(latest.at, now)}: fix the error that tocsin outbox --state failed shows, then run tocsin outbox replay with its ID`
    findings.push(attention("delivery", text))
  }
  return findings.length > 0
    ? findings
    : [ok("delivery", "no receiver fails, and no notification is late or failed today")]
}
