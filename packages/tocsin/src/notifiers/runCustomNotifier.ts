import { testText } from "@tocsin/adapter-notify/text/testText"
import type { DeliveryResult, Notifier, TestReceipt } from "@tocsin/core/ports/Notifiers"
import { Duration, Effect, Option } from "effect"
import type { CustomNotifier, SendContext, SendResult } from "./CustomNotifier.ts"
import { toNotification } from "./Notification.ts"

const delivered: DeliveryResult = { outcome: "delivered" }

const MAX_ERROR_CHARACTERS = 512

/** What the notifier resolved with; anything that is no result of ours counts as delivered, as nothing does. */
const toResult = (result: SendResult | void): DeliveryResult => {
  if (result === undefined || result === null || typeof result !== "object") return delivered
  if (result.outcome !== "deferred" && result.outcome !== "refused") return delivered
  return { ...result, error: String(result.error).slice(0, MAX_ERROR_CHARACTERS) }
}

/** The port's notifier on an object of a person's: bounded in time, and never failing. */
export const runCustomNotifier = (custom: CustomNotifier, timeout: Duration.Duration): Notifier => {
  const { name } = custom
  const attempt = (
    send: (context: SendContext) => Promise<SendResult | void> | SendResult | void,
  ): Effect.Effect<DeliveryResult> =>
    Effect.tryPromise({
      // Aborted by interruption, which the time-out is.
      try: async (signal) => toResult(await send({ signal })),
      catch: (cause) => cause,
    }).pipe(
      Effect.timeoutOption(timeout),
      Effect.map(
        Option.getOrElse((): DeliveryResult => ({
          outcome: "deferred",
          error: `No answer came within ${Duration.format(timeout)}.`,
        })),
      ),
      // What somebody's code throws may name addresses and secrets: it is for the log, not for everyone who reads lists.
      Effect.catch((cause) =>
        Effect.as(Effect.logWarning(`the notifier ${name} failed and is tried again`, cause), {
          outcome: "deferred" as const,
          error: `The notifier ${name} failed; the log has the cause.`,
        }),
      ),
    )
  const untested: TestReceipt = {
    status: undefined,
    result: { outcome: "refused", error: `The notifier ${name} has no test of its own.` },
  }
  return {
    kind: name,
    send: (notification) => attempt((context) => custom.send(toNotification(notification), context)),
    test:
      custom.test === undefined
        ? Effect.succeed(untested)
        : Effect.map(
            attempt((context) => custom.test?.({ text: testText }, context)),
            (result) => ({ result, status: undefined }),
          ),
  }
}
