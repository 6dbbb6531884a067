import { Context, Effect, Layer } from "effect"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { repairReceivers } from "../../heart/evaluation/repairReceivers.ts"
import { NotFound } from "../../kernel/engine/OperationErrors.ts"
import { noteTested } from "../../heart/notifications/refusingReceivers.ts"
import { refusedHere } from "../../heart/notifications/Notifiers.ts"

const testOperations = Effect.map(operationPorts, ({ commits, options, policy, receivers, storage }) => ({
  /** Sends a test message now and returns the receiver's answer. What it refused before follows, if it takes that. */
  testNotifier: Effect.fn("Operations.testNotifier")(function* (receiver: NotifierName) {
    const notifier = receivers.current().get(receiver)
    if (notifier !== undefined) {
      const receipt = yield* notifier.test
      if (receipt.result.outcome !== "delivered") return receipt
      yield* commits.transact(noteTested(receiver, options.newEventId))
      const repaired = new Map([[receiver, { at: yield* Instant.now, by: "change" } as const]])
      yield* repairReceivers({ commits, storage }, options, repaired)
      return receipt
    }
    const reason = policy.current().unavailable?.get(receiver)
    if (reason !== undefined) return refusedHere(reason)
    return yield* new NotFound({
      message: `no receiver has the name ${receiver}; list receivers with GET /ops/v1/policy`,
    })
  }),
}))

/** Operators' tests of receivers in force. */
export class ReceiverTests extends Context.Service<ReceiverTests>()(
  "@tocsin/core/features/receivers/ReceiverTests",
  { make: testOperations },
) {
  static readonly layer = Layer.effect(ReceiverTests, ReceiverTests.make)
}
