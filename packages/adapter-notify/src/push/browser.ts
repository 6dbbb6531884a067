import { refusedHere, type Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import type { Language } from "@tocsin/contract/languages/Language"
import { Effect } from "effect"

const UNBOUND = refusedHere("this process reaches no browsers")

/** The browsers of an operator. The core makes it send, which has their addresses (docs/rules.md#browsers). */
export const browser = (operator: string, lang?: Language): Notifier => ({
  kind: "messenger",
  browsersOf: { operator, lang },
  // A message may be sent twice, each for 9 s, 5 s apart.
  outlastsLease: true,
  send: () => Effect.succeed(UNBOUND.result),
  sendDigest: () => Effect.succeed(UNBOUND.result),
  test: Effect.succeed(UNBOUND),
})
