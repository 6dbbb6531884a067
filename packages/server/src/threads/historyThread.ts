import type * as Instant from "@tocsin/contract/Instant"
import { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { type Backtested, type BacktestedPolicy, PolicyBacktest } from "@tocsin/core/ports/PolicySource"
import { StorageError, type StorageFailure } from "@tocsin/core/ports/Storage"
import { backtestHistory } from "@tocsin/simulation/backtestHistory"
import { startTrialHere } from "@tocsin/simulation/backtestThread"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { postgresPlace, sqlitePlace } from "tocsin/internal/storages/places"
import { databaseFile, placeOfSettings } from "../storage.ts"
import type { Settings } from "../settings/Settings.ts"
import { askThread, type Order } from "./askThread.ts"

/** A policy on its way to the thread: durations do not survive it. */
interface SentPolicy extends Pick<BacktestedPolicy, "notifiers"> {
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
  | { readonly type: "done"; readonly backtested: Backtested }
  | { readonly type: "failed"; readonly reason: StorageFailure; readonly message: string }

/** A history beyond it ends the thread and not the server. */
const LIMITS = { maxMegabytes: 1_024 }

const sent = ({ notifiers, policy }: BacktestedPolicy): SentPolicy => ({
  notifiers,
  policy: Schema.encodeSync(PolicyDocument)(policy),
})
const received = ({ notifiers, policy }: SentPolicy): BacktestedPolicy => ({
  notifiers,
  policy: Schema.decodeSync(PolicyDocument)(policy),
})

/** Plays policies on the history of these settings on a thread; the memory storage has none. */
export const policyBacktest = (settings: Settings): Layer.Layer<never> =>
  placeOfSettings(settings) === undefined ? Layer.empty : Layer.succeed(PolicyBacktest, onThread(settings))

const onThread = (settings: Settings): PolicyBacktest => {
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
    return reply.type === "done" ? reply.backtested : yield* new StorageError(reply)
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
  const backtested = place.withSource((source) =>
    backtestHistory(source, {
      ...times,
      inForce: received(inForce),
      tried: received(tried),
      staleAfter: Duration.millis(staleAfter),
      start: startTrialHere,
    }),
  )
  return Effect.runPromise(
    Effect.match(backtested, {
      onSuccess: (value): Reply => ({ type: "done", backtested: value }),
      onFailure: ({ message, reason }): Reply => ({ type: "failed", reason, message }),
    }),
  )
}
