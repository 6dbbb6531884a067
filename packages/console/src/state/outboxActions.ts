import type { HeldOutboxItem } from "@tocsin/client"
import { ApiFailure, failureAfter } from "../api/ApiFailure.ts"
import { segment } from "../api/request.ts"
import { countText, numberText } from "../format/times.ts"
import { confirmed } from "./confirmation.ts"
import { listOf, MOST, readAll } from "./lists.ts"
import { call } from "./session.ts"
import type { Message } from "./useAction.ts"

/** Sends a failed notification again. */
export const replay = async (id: string): Promise<Message> => {
  await call("POST", `ops/v1/notifiers/outbox/${segment(id)}/replay`)
  return { text: "Replayed the notification" }
}

/** Follows a run that takes long, and may stop it. */
interface Watch {
  readonly shows: (progress: string) => void
  readonly isStopped: () => boolean
}

// Another operator replayed it, its incident is over, or it was deleted: the others can still be sent.
const isPast = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.status === 409 || error.status === 404)

/** Sends all dead letters again, one after the other. Asks first, with their count. */
export const replayAll = async ({ shows, isStopped }: Watch): Promise<Message | undefined> => {
  // The order in which receivers were to get them. A replay may be sent before the next one begins.
  const query = { state: "failed", sort: "created_at", direction: "asc" }
  const letters = await readAll(listOf<HeldOutboxItem>("ops/v1/outbox", query, MOST))
  const all = numberText(letters.length)
  const question = `Send all ${countText(letters.length, "dead letter")} again?`
  if (letters.length > 0 && !(await confirmed(question, `Replay all ${all} now`, false))) return undefined
  let [count, past] = [0, 0]
  const done = () => `Replayed ${countText(count, "notification")}`
  for (const { id } of letters) {
    if (isStopped()) break
    shows(`${numberText(count)} of ${all} replayed`)
    try {
      await replay(id)
      count += 1
    } catch (error) {
      if (!isPast(error)) throw failureAfter(done(), error)
      past += 1
    }
  }
  const leftOut = `; left out ${numberText(past)}: replayed already, or its incident is over`
  return { text: past === 0 ? done() : `${done()}${leftOut}` }
}
