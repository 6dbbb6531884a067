import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Duration, Effect, FiberMap, Layer, Queue, Random, Stream } from "effect"
import { makeAttempt } from "../../heart/notifications/attemptItems.ts"
import type { AttemptResult } from "../../heart/notifications/recordResults.ts"
import type { Policy } from "../../heart/policy/compilePolicy.ts"
import { DeliverySettings } from "../../heart/usecases/Delivery.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"
import { keepRepeating } from "../../kernel/engine/commits/keepRepeating.ts"
import { newId } from "../../kernel/ports/Ids.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { publicUrlOf } from "../../kernel/ports/RuleSettings.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"
import {
  isReportDue,
  monthsAround,
  recordReport,
  renewReport,
  type TakenReport,
  takeReport,
} from "./monthlyDecisions.ts"
import { reportName } from "./MonthlyReportRecord.ts"
import { reportOperations } from "./readReport.ts"

/** Reports and their retries are late by this at most. */
const LOOK_EVERY = Duration.seconds(5)
const BETWEEN_TRIES = Duration.seconds(1)

/** The receivers of a policy that get the report of each month. */
export const receiversOfReports = ({ receivers }: Policy): ReadonlyArray<NotifierName> =>
  Array.from(receivers).flatMap(([name, { definition }]) =>
    definition?.kind === "messenger" && definition.reports === "monthly" ? [name] : [],
  )

/** Makes the function that sends a receiver the report that is due, if there is one. */
const sendingReports = Effect.gen(function* () {
  const ports = yield* operationPorts
  const { commits, ids, policy, receivers, rules, storage } = ports
  const { report: readReport } = reportOperations(ports)
  const { lease } = yield* DeliverySettings
  const drawn = newId<string>(ids)

  const attemptAt = Effect.fnUntraced(function* (receiver: NotifierName, taken: TakenReport) {
    const { from, id, month, recipients, to } = taken
    const { tz } = policy.current().readerOf(receiver)
    const report = yield* readReport({ from, to })
    const publicUrl = publicUrlOf(rules)
    const link = publicUrl && `${publicUrl}/#/report?month=${month}`
    const sending = receivers
      .current()
      .get(receiver)
      ?.sendReport?.({ id, month, tz, report, link, recipients })
    // A reload may have removed it.
    return yield* sending ?? Effect.interrupt
  })

  /** Notes how an attempt ended, for as long as its claim may hold: a lost end sends the same mail twice. */
  const insist = (
    noted: Effect.Effect<void, StorageError>,
    giveUpAt: Instant.Instant,
  ): Effect.Effect<void, StorageError> =>
    Effect.catch(noted, (failure) =>
      Effect.flatMap(Instant.now, (now) =>
        now >= giveUpAt
          ? Effect.fail(failure)
          : Effect.andThen(Effect.interruptible(Effect.sleep(BETWEEN_TRIES)), insist(noted, giveUpAt)),
      ),
    )

  /** Makes an attempt; no other server makes one while it runs. */
  const attempt = Effect.fnUntraced(function* (receiver: NotifierName, taken: TakenReport) {
    const { attempts, month } = taken
    const claimed = { receiver, month, attempts }
    const renewing = Effect.forever(
      Effect.delay(
        Effect.ignore(commits.transact(renewReport(claimed, lease))),
        Duration.divideUnsafe(lease, 3),
      ),
    )
    const made = Effect.catch(attemptAt(receiver, taken), ({ message: error }) =>
      Effect.succeed({ outcome: "deferred", error } as const),
    )
    const result: AttemptResult = yield* makeAttempt(Effect.raceFirst(made, renewing))
    const noted = commits.transact(recordReport(claimed, result, yield* Random.next))
    yield* insist(noted, Instant.plus(yield* Instant.now, lease))
  }, Effect.uninterruptible)

  const follow = Effect.fnUntraced(function* (receiver: NotifierName) {
    const { tz } = policy.current().readerOf(receiver)
    const isUsable = receivers.current().get(receiver)?.sendReport !== undefined
    const now = yield* Instant.now
    const { last, next } = monthsAround(tz, now)
    const names = [last, next].map(({ month }) => reportName({ receiver, month }))
    const rows = yield* storage.rows("monthly_report", names)
    if (!isReportDue(rows, { isUsable, receiver, tz }, now)) return
    const taken = yield* commits.transact(takeReport({ receiver, tz, lease, isUsable, newId: drawn }))
    if (taken !== undefined) yield* attempt(receiver, taken)
  })
  return { follow, policy }
})

/** Sends the report of each month to the receivers that ask for it; safe with several replicas (docs/rules.md#monthly-reports). */
export const monthlyReports = Layer.effectDiscard(
  Effect.gen(function* () {
    const { follow, policy } = yield* sendingReports
    const replaced = yield* Stream.toQueue(policy.replaced, { capacity: "unbounded" })
    const sending = yield* FiberMap.make<NotifierName>()
    const complaint = "cannot look for monthly reports that are due; trying again: check the storage"
    const look = Effect.suspend(() =>
      Effect.forEach(
        receiversOfReports(policy.current()),
        (receiver) =>
          FiberMap.run(
            sending,
            receiver,
            Effect.catchCause(follow(receiver), (cause) => Effect.logWarning(complaint, cause)),
            { onlyIfMissing: true },
          ),
        { discard: true },
      ),
    )
    const pause = Effect.raceFirst(idlePause(LOOK_EVERY), Effect.ignore(Queue.take(replaced)))
    yield* Effect.forkScoped(keepRepeating(Effect.andThen(look, pause), complaint, pause))
  }),
)
