import { Duration, Effect, Result } from "effect"
import type { SubscriptionId } from "@tocsin/contract/push/Push"
import type { Language } from "@tocsin/contract/languages/Language"
import type { AuditId } from "@tocsin/contract/audit/Audit"
import { systemSignature } from "../../heart/audit/recordAudit.ts"
import type { SubscriptionRecord } from "../../heart/model/SubscriptionRecord.ts"
import type { DeliveryResult, TestReceipt } from "../../heart/notifications/Notifiers.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { CurrentInstruments } from "../../kernel/engine/metrics/Instruments.ts"
import { Ids, newId } from "../../kernel/ports/Ids.ts"
import { SecretCipher } from "../../kernel/ports/SecretCipher.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import type { FindingBrowsers } from "./findBrowsers.ts"
import { pushMessage, type PushSubject } from "./pushMessage.ts"
import { pushMetrics } from "./pushMetrics.ts"
import { PushService, type VapidKey } from "./PushService.ts"
import { openAddress } from "./sealedPush.ts"
import { recordTested, recordTold, type Told } from "./subscriptionDecisions.ts"

/** How long after a message that failed in passing it is sent once more. */
const AGAIN_AFTER = Duration.seconds(5)

/** A message to one browser, and the answer to it. */
interface Sent {
  readonly row: SubscriptionRecord
  readonly receipt: TestReceipt
}

const refusal = (error: string): TestReceipt => ({ status: undefined, result: { outcome: "refused", error } })

const UNREADABLE = "no key of SERVICE_SECRETS_KEY opens its address: add it again by Notify this browser"

const GONE = new Set([404, 410])

const toTold = ({ receipt: { result, status }, row: { id } }: Sent): Told => {
  if (result.outcome === "delivered") return { id, outcome: "taken", error: undefined }
  if (status !== undefined && GONE.has(status))
    return {
      id,
      outcome: "gone",
      error: "its push service knows it no more: add it again by Notify this browser",
    }
  const error =
    status === undefined
      ? result.error
      : `its push service answered ${status}: send a test, and add the browser again if that fails`
  return { id, outcome: "failed", error }
}

/** The result for all browsers: one that took the message suffices. */
const overall = (sent: ReadonlyArray<Sent>, told: ReadonlyArray<Told>): TestReceipt => {
  const errors = told.flatMap(({ error }, n) =>
    error === undefined ? [] : [`${sent[n]?.row.name}: ${error}`],
  )
  const error = errors.join("; ")
  const taken = sent.find(({ receipt }) => receipt.result.outcome === "delivered")
  if (taken !== undefined)
    return { status: taken.receipt.status, result: { outcome: "delivered", ...(error !== "" && { error }) } }
  const [status] = sent.flatMap(({ receipt }) => receipt.status ?? [])
  const waits = sent.flatMap(({ receipt: { result } }) =>
    result.outcome === "deferred" ? [result.retryAfterSeconds] : [],
  )
  const stated = waits.filter((seconds) => seconds !== undefined)
  const retryAfterSeconds = stated.length < waits.length ? undefined : Math.min(...stated)
  const result: DeliveryResult =
    waits.length === 0 ? { outcome: "refused", error } : { outcome: "deferred", error, retryAfterSeconds }
  return { status, result }
}

/** Returns a function that writes to one browser, and once more where that failed in passing. */
const sendingTo = Effect.gen(function* () {
  const storage = yield* Storage
  const cipher = yield* SecretCipher
  const service = yield* PushService
  const sendOnce = Effect.fnUntraced(function* (
    { id, operator }: SubscriptionRecord,
    vapid: VapidKey,
    subject: PushSubject,
  ): Effect.fn.Return<Sent | undefined, StorageError> {
    // Who left gets nothing any more, also while an attempt is under way.
    const [row] = yield* storage.rows("push_subscription", [id])
    if (row === undefined || row.operator !== operator || service === undefined) return undefined
    const { value: address } = openAddress(row, cipher)
    if (address === undefined) return { row, receipt: refusal(UNREADABLE) }
    const host = service.hostOf(address)
    if (Result.isFailure(host)) return { row, receipt: refusal(host.failure) }
    const message = pushMessage(subject, id + service.proofOf(address))
    return { row, receipt: yield* service.post(address, vapid, message) }
  })
  return Effect.fnUntraced(function* (row: SubscriptionRecord, vapid: VapidKey, subject: PushSubject) {
    const first = yield* sendOnce(row, vapid, subject)
    const result = first?.receipt.result
    if (result?.outcome !== "deferred") return first
    if ((result.retryAfterSeconds ?? 0) > Duration.toSeconds(AGAIN_AFTER)) return first
    yield* Effect.sleep(AGAIN_AFTER)
    return yield* Effect.catch(sendOnce(row, vapid, subject), () => Effect.succeed(first))
  })
})

const deferral = (error: string): TestReceipt => ({
  status: undefined,
  result: { outcome: "deferred", error },
})

const failed = ({ message }: StorageError): TestReceipt =>
  deferral(`The storage failed: ${message}; wait until it answers`)

/** Nobody can be reached any more since the receiver was last looked at: a notification waits, as later ones do. */
const unreached = ({ about }: PushSubject, problem: string): TestReceipt =>
  about === "test" ? refusal(problem) : deferral(problem)

/** Functions that write to the browsers of operators (docs/rules.md#browsers). */
export const reachingBrowsers = Effect.fnUntraced(function* ({
  browsersOf,
  key,
  problemOf,
}: FindingBrowsers) {
  const { transact } = yield* Commits
  const { pushMessages } = (yield* CurrentInstruments).of(pushMetrics)
  const system = systemSignature(newId<AuditId>(yield* Ids))
  const sendTo = yield* sendingTo

  /** Writes to these browsers at the same time, and records what became of it. */
  const sendAll = Effect.fnUntraced(function* (
    rows: ReadonlyArray<SubscriptionRecord>,
    subject: PushSubject,
  ) {
    const vapid = yield* key
    if (Result.isFailure(vapid)) return unreached(subject, vapid.failure)
    if (subject.about === "test") yield* transact(recordTested(rows.map(({ id }) => id)))
    // A failure at one interrupts no message to another.
    const failures: Array<StorageError> = []
    const skipped = (row: SubscriptionRecord) => (error: StorageError) => {
      failures.push(error)
      return Effect.succeed<Sent>({ row, receipt: failed(error) })
    }
    const send = (row: SubscriptionRecord) => Effect.catch(sendTo(row, vapid.success, subject), skipped(row))
    const all = yield* Effect.forEach(rows, send, { concurrency: "unbounded" })
    const sent = all.filter((one) => one !== undefined)
    const [failure] = failures
    const isTaken = sent.some(({ receipt }) => receipt.result.outcome === "delivered")
    if (failure !== undefined && !isTaken) return yield* Effect.fail(failure)
    if (sent.length === 0) return unreached(subject, "no browser is left: add one by Notify this browser")
    const told = sent.map(toTold)
    for (const { outcome } of told) pushMessages.of(outcome).value += 1
    // A message that was taken has rung: without this note, the next one makes it.
    yield* Effect.catch(transact(recordTold(told, system)), (error) =>
      Effect.logWarning("cannot note at browsers what became of a message: check the storage", error),
    )
    return overall(sent, told)
  })

  return {
    /** Makes one attempt to write to all browsers of an operator. Never fails: errors are results. */
    attempt: (operator: string, subject: PushSubject): Effect.Effect<TestReceipt> =>
      Effect.gen(function* () {
        const problem = yield* problemOf(operator)
        return problem === undefined
          ? yield* sendAll(yield* browsersOf(operator), subject)
          : unreached(subject, problem)
      }).pipe(Effect.catch((error) => Effect.succeed(failed(error)))),
    /** Writes a test to one browser. */
    test: (row: SubscriptionRecord, lang: Language | undefined) => sendAll([row], { about: "test", lang }),
  }
})

export type ReachingBrowsers = Effect.Success<ReturnType<typeof reachingBrowsers>>

/** A browser by the token of the address to which it reports what it has shown. */
export const shownBy = (
  token: string,
): { readonly id: SubscriptionId; readonly proof: string } | undefined => {
  const { id, proof } = /^(?<id>[0-9a-f]{32})(?<proof>[0-9a-f]{64})$/u.exec(token)?.groups ?? {}
  // The form of an ID; only rows that exist count.
  return id === undefined || proof === undefined ? undefined : { id: id as SubscriptionId, proof }
}
