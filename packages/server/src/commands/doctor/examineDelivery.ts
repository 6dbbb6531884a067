import * as Instant from "@tocsin/core/contract/Instant"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import { type NotificationMoments, notificationMoments } from "@tocsin/core/health/HealthExamination"
import { LATE_AFTER } from "@tocsin/core/health/judgeHealth"
import { Storage } from "@tocsin/core/ports/Storage"
import { Duration, Effect } from "effect"
import { ageText } from "../../output/ageText.ts"
import { useCases } from "../UseCases.ts"
import { attention, failed, type Findings, ok } from "./Finding.ts"

const CHECK = "delivery"
/** How long dead letters are told of: whoever asks once a day hears of each. */
const DEAD_LETTERS_TOLD_FOR = Duration.hours(25)

/** What calls for a look: notifications that are late, as a beat would tell, and dead letters of a day. */
export const deliveryFindings = (
  { undelivered, givenUp }: NotificationMoments,
  now: Instant.Instant,
): Findings => {
  const late = undelivered.filter(({ at }) => at < Instant.minus(now, LATE_AFTER))
  const [oldest] = late.toSorted((a, b) => (a.at < b.at ? -1 : 1))
  const [latest] = givenUp.filter(({ at }) => at > Instant.minus(now, DEAD_LETTERS_TOLD_FOR))
  const findings: Findings = [
    ...(oldest === undefined
      ? []
      : [
          attention(
            CHECK,
            `a notification for ${oldest.notifier} of ${ageText(oldest.at, now)} is not delivered: see tocsin outbox --state retry`,
          ),
        ]),
    ...(latest === undefined
      ? []
      : [
          attention(
            CHECK,
            `a notification for ${latest.notifier} failed ${ageText(latest.at, now)}: fix the error that tocsin outbox --state failed shows, then run tocsin outbox replay --all`,
          ),
        ]),
  ]
  return findings.length > 0 ? findings : [ok(CHECK, "no notification is late or failed today")]
}

/** Whether notifications of the notifiers that are configured go out; on a storage that was found to be in order. */
export const examineDelivery = Effect.gen(function* () {
  const moments = yield* notificationMoments(yield* Storage, yield* Notifiers)
  return deliveryFindings(moments, yield* Instant.now)
}).pipe(
  Effect.provide(useCases),
  Effect.catch(({ message }) => Effect.succeed<Findings>([failed(CHECK, message, "storage")])),
)
