import { type Severity, SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import type { Language } from "@tocsin/contract/languages/Language"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import { createHash } from "node:crypto"
import type { TextMedium } from "@tocsin/core/heart/notifications/cutText"
import { digestText } from "@tocsin/core/heart/notifications/digestText"
import { incidentText, notRecoveredIn, testText } from "@tocsin/core/heart/notifications/incidentText"

/** The message that a typed receiver writes, with an ID that a repeat of the same message has too. */
export type ChatMessage = { readonly id: string } & (
  | { readonly about: "test"; readonly lang?: Language | undefined }
  | { readonly about: "notification"; readonly notifications: readonly [DeliveryAttempt] }
  | { readonly about: "digest"; readonly notifications: ReadonlyArray<DeliveryAttempt> }
)

export const aboutNotification = (notification: DeliveryAttempt): ChatMessage => ({
  about: "notification",
  id: notification.id,
  notifications: [notification],
})

/** A message about several: the ID names exactly these, whatever their order. */
export const aboutSeveral = (notifications: ReadonlyArray<DeliveryAttempt>): ChatMessage => {
  const ids = notifications.map(({ id }) => id).toSorted()
  return { about: "digest", id: createHash("sha256").update(ids.join()).digest("hex"), notifications }
}

/** The worst severity of a message of firings; `resolved`, or `ended` where a check may not be ok; `test`. */
export type Tone = Severity | "resolved" | "ended" | "test"

/** Whether a message is about resolutions. */
export const isEnd = (tone: Tone): boolean => tone === "resolved" || tone === "ended"

export const toneOf = (message: ChatMessage): Tone => {
  if (message.about === "test") return "test"
  const { notifications } = message
  const [worst] = notifications.toSorted((a, b) => SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity])
  if (worst?.event_type === "firing") return worst.severity
  return notifications.some((one) => notRecoveredIn(one) !== undefined) ? "ended" : "resolved"
}

/** The text of a message, fitted to its medium. */
export const textOf = (message: ChatMessage, medium: TextMedium): string => {
  if (message.about === "test") return testText(message, medium.form)
  return message.about === "digest"
    ? digestText(message.notifications, medium)
    : incidentText(message.notifications[0], medium)
}
