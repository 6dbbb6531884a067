import { refusedHere, type Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect } from "effect"

const UNBOUND = refusedHere("this process reaches no browsers")

/** The browsers of an operator. The core makes it send, which has their addresses (docs/rules.md#browsers). */
export const browser = (operator: string): Notifier => ({
  kind: "messenger",
  browsersOf: { operator },
  // A message may be sent twice, each for 9 s, 5 s apart.
  outlastsLease: true,
  send: () => Effect.succeed(UNBOUND.result),
  sendDigest: () => Effect.succeed(UNBOUND.result),
  test: Effect.succeed(UNBOUND),
})
