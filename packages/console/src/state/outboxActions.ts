import type { HeldOutboxItem } from "@tocsin/client"
import { ApiFailure, failureAfter } from "../api/ApiFailure.ts"
import { segment } from "../api/request.ts"
import { countText, numberText } from "../format/times.ts"
import { listOf, MOST, readAll } from "./lists.ts"
import { carryOut } from "./session.ts"
import { confirmed, type Message } from "./useAction.ts"

export const replay = (id: string): Promise<Message> =>
  carryOut("Replayed the notification", "POST", `ops/v1/notifiers/outbox/${segment(id)}/replay`)

const FOLLOWED_MILLIS = 12_000
const POLL_MILLIS = 1_000

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** The states that end a replay, and how people read them. */
const OUTCOMES = [
  ["sent", "sent"],
  ["failed", "failed again"],
  ["retry", "not taken, tried again later"],
] as const

/** The outcomes of notifications that were sent again. Waits for a while until each has one. */
export const followReplays = async (ids: ReadonlyArray<string>): Promise<string> => {
  const wanted = new Set(ids)
  for (let waited = 0; ; waited += POLL_MILLIS) {
    const { items } = await listOf<HeldOutboxItem>("ops/v1/outbox", {}, MOST).read(undefined)
    const mine = items.filter(({ id }) => wanted.has(id))
    const counts = OUTCOMES.map(
      ([outcome, what]) => [mine.filter(({ state }) => state === outcome).length, what] as const,
    )
    const left = counts.reduce((rest, [count]) => rest - count, wanted.size)
    if (left === 0 || waited >= FOLLOWED_MILLIS)
      return [...counts, [left, "still on the way"] as const]
        .flatMap(([count, what]) => (count === 0 ? [] : `${numberText(count)} ${what}`))
        .join(", ")
    await pause(POLL_MILLIS)
  }
}

/** Follows a run that takes long, and may stop it. */
interface Progress {
  /** Waits for the outcomes of the replayed ones. */
  readonly follow: (ids: ReadonlyArray<string>) => Promise<string>
  readonly shows: (progress: string) => void
  readonly isStopped: () => boolean
}

// Another operator replayed it, its incident is over, or it was deleted: the others can still be sent.
const isPast = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 409 || error.status === 404)

/** Sends all failed notifications again, one after the other. Asks first, with their count. */
export const replayAll = async ({ follow, shows, isStopped }: Progress): Promise<Message | undefined> => {
  // The order in which receivers were to get them. A replay may be sent before the next one begins.
  const query = { state: "failed", sort: "created_at", direction: "asc" }
  const letters = await readAll(listOf<HeldOutboxItem>("ops/v1/outbox", query, MOST))
  const all = numberText(letters.length)
  const question = `Send all ${countText(letters.length, "failed notification")} again? Each was attempted before: no silence and no acknowledgement holds it.`
  if (letters.length > 0 && !(await confirmed(question, `Replay all ${all} now`, false))) return undefined
  const replayed: Array<string> = []
  let past = 0
  const done = () => `Replayed ${countText(replayed.length, "notification")}`
  for (const { id } of letters) {
    if (isStopped()) break
    shows(`${numberText(replayed.length)} of ${all} replayed`)
    try {
      await replay(id)
      replayed.push(id)
    } catch (error) {
      if (!isPast(error)) throw failureAfter(done(), error)
      past += 1
    }
  }
  shows("waiting for the outcome")
  const outcome = replayed.length === 0 ? "" : await follow(replayed).catch(() => "")
  const leftOut =
    past === 0 ? "" : `; left out ${numberText(past)}: replayed already, or its incident is over`
  return { text: `${done()}${outcome === "" ? "" : `: ${outcome}`}${leftOut}` }
}
