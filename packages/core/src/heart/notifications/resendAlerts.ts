import { Duration, Effect, Exit, Fiber, FiberSet } from "effect"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { keepRepeating } from "../../kernel/engine/commits/keepRepeating.ts"
import { type DeliverInput, waitForMore } from "./deliverItems.ts"
import type { DeliveryResult, Notifier, ClaimedAlert } from "./Notifiers.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Receivers } from "./Receivers.ts"
import { OutboxSignal } from "./OutboxSignal.ts"
import { readTitles } from "./addDetails.ts"
import { claimAlerts, releaseAlert, RESEND_EVERY, recordAlertResult } from "./alertDecisions.ts"

// One post: some hundred kilobytes at most.
const ALERTS_AT_ONCE = 100

const withTitles = Effect.fnUntraced(function* (claimed: ReadonlyArray<ClaimedAlert>) {
  const titles = yield* readTitles(claimed.map(({ incident }) => incident))
  return claimed.map((one) => ({ ...one, title: titles.get(one.incident.id) }))
})

/** Sends alerts again to a receiver that forgets them unless they repeat (docs/rules.md#alertmanager). */
export const resendAlerts = Effect.fnUntraced(function* ({
  lease,
  receiver,
  underWay,
}: Pick<DeliverInput, "lease" | "receiver" | "underWay">) {
  const commits = yield* Commits
  const signal = yield* OutboxSignal
  // A failed alert waits for the end of its claim.
  const claimFor = Duration.min(lease, RESEND_EVERY)
  const receivers = yield* Receivers
  const { current: policy } = yield* PolicyInForce
  const current = () => receivers.current().get(receiver)
  const resend: NonNullable<Notifier["resend"]> = (alerts) => current()?.resend?.(alerts) ?? Effect.interrupt

  const post = (claimed: ReadonlyArray<ClaimedAlert>) =>
    Effect.exit(Effect.interruptible(Effect.flatMap(withTitles(claimed), resend))).pipe(
      Effect.flatMap((exit) => settle(claimed, exit)),
      Effect.uninterruptible,
    )

  const claim = Effect.fnUntraced(function* () {
    const { remembers } = current() ?? {}
    const claimed = yield* commits.transact(
      claimAlerts({ receiver, limit: ALERTS_AT_ONCE, lease: claimFor, remembers, policy }),
    )
    return claimed.length === 0 ? undefined : yield* FiberSet.run(underWay, post(claimed))
  }, Effect.uninterruptible)

  const round = Effect.gen(function* () {
    const seen = yield* signal.count
    if (current()?.resend === undefined) return yield* signal.after(seen)
    const at = yield* Instant.now
    const posting = yield* claim()
    yield* posting === undefined ? waitForMore(receiver, { seen, at }) : Fiber.await(posting)
  })
  return yield* keepRepeating(round, "cannot read alerts; sending resumes when the storage recovers")
})

/** A refused alert is due again when its lease ends; an interrupted one is released. */
const settle = Effect.fnUntraced(
  function* (claimed: ReadonlyArray<ClaimedAlert>, exit: Exit.Exit<DeliveryResult>) {
    const commits = yield* Commits
    if (Exit.isSuccess(exit) && exit.value.outcome !== "delivered") {
      return yield* Effect.logWarning(
        "cannot resend alerts; retrying when their leases end",
        exit.value.error,
      )
    }
    if (Exit.isFailure(exit) && !Exit.hasInterrupts(exit)) {
      return yield* Effect.logError(
        "a notifier failed unexpectedly; retrying its alerts when their leases end",
        exit.cause,
      )
    }
    for (const one of claimed)
      yield* commits.transact(Exit.isSuccess(exit) ? recordAlertResult(one) : releaseAlert(one.alert))
  },
  Effect.catchCause((cause) =>
    Effect.logWarning("cannot record that alerts were sent; sending them again when their leases end", cause),
  ),
)
