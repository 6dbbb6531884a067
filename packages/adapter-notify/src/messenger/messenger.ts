import type { Notifier, TestReceipt } from "@tocsin/core/ports/Notifiers"
import { Effect } from "effect"
import { digestText } from "../text/digestText.ts"
import { incidentText, testText, type TextMedium } from "../text/incidentText.ts"

/** A notifier that writes texts fitted to a medium. */
export const messenger = (
  medium: TextMedium,
  write: (text: string) => Effect.Effect<TestReceipt>,
): Notifier => {
  const resultOf = (text: string) => Effect.map(write(text), ({ result }) => result)
  return {
    kind: "messenger",
    send: (notification) => resultOf(incidentText(notification, medium)),
    sendDigest: (notifications) => resultOf(digestText(notifications, medium)),
    test: write(testText),
  }
}
