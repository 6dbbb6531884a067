import type * as Instant from "@tocsin/contract/formats/Instant"
import { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { type TrialCounts, type TriedPolicy, HistoryTrial } from "@tocsin/core/features/trial/HistoryTrial"
import { StorageError, type StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { tryOnHistory } from "@tocsin/simulation/tryOnHistory"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { postgresPlace, sqlitePlace } from "tocsin/internal/storages/places"
import { databaseFile, placeOfSettings } from "../../storage.ts"
import type { Settings } from "../../settings/Settings.ts"
import { askThread, type Order } from "../../threads/askThread.ts"

/** A policy on its way to the thread: durations do not survive it. */
interface SentPolicy extends Pick<TriedPolicy, "notifiers"> {
  readonly policy: typeof PolicyDocument.Encoded
}

interface HistoryOrder extends Order {
  readonly work: "history"
  /** Of SQLite. */
  readonly file: string
  /** Of PostgreSQL. It stays inside the process, where a redacted one would lose its value. */
  readonly url: string | undefined
  readonly inForce: SentPolicy
  readonly tried: SentPolicy
  readonly since: Instant.Instant
  readonly until: Instant.Instant
  readonly staleAfter: number
  readonly most: number
}

type Reply =
  | { readonly type: "done"; readonly counted: TrialCounts }
  | { readonly type: "failed"; readonly reason: StorageFailure; readonly message: string }

/** A history beyond it ends the thread and not the server. */
const LIMITS = { maxMegabytes: 1_024 }

const sent = ({ notifiers, policy }: TriedPolicy): SentPolicy => ({
  notifiers,
  policy: Schema.encodeSync(PolicyDocument)(policy),
})
const received = ({ notifiers, policy }: SentPolicy): TriedPolicy => ({
  notifiers,
  policy: Schema.decodeSync(PolicyDocument)(policy),
})

/** Plays policies on the history of these settings on a thread; the memory storage has none. */
export const historyTrial = (settings: Settings): Layer.Layer<never> =>
  placeOfSettings(settings) === undefined ? Layer.empty : Layer.succeed(HistoryTrial, onThread(settings))

const onThread = (settings: Settings): HistoryTrial => {
  const { DATABASE_URL: database } = settings
  const file = databaseFile(settings)
  const url = database?.kind === "postgres" ? Redacted.value(database.url) : undefined
  return Effect.fnUntraced(function* ({ inForce, staleAfter, tried, ...times }) {
    const order: HistoryOrder = {
      work: "history",
      file,
      url,
      ...times,
      inForce: sent(inForce),
      tried: sent(tried),
      staleAfter: Duration.toMillis(staleAfter),
    }
    const reply = yield* askThread<Reply>(order, LIMITS)
    return reply.type === "done" ? reply.counted : yield* new StorageError(reply)
  })
}

/** Reads a snapshot in the thread, and plays both policies on it. */
export const runHistoryThread = ({
  file,
  inForce,
  staleAfter,
  tried,
  url,
  ...times
}: HistoryOrder): Promise<Reply> => {
  const place = url === undefined ? sqlitePlace(file) : postgresPlace(Redacted.make(url))
  const counted = place.withSource((source) =>
    tryOnHistory(source, {
      ...times,
      inForce: received(inForce),
      tried: received(tried),
      staleAfter: Duration.millis(staleAfter),
    }),
  )
  return Effect.runPromise(
    Effect.match(counted, {
      onSuccess: (value): Reply => ({ type: "done", counted: value }),
      onFailure: ({ message, reason }): Reply => ({ type: "failed", reason, message }),
    }),
  )
}
