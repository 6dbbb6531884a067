import { utf8Length } from "@tocsin/contract/formats/outputText"
import type { Language } from "@tocsin/contract/languages/Language"
import type { DeliveryAttempt } from "../../heart/notifications/Notifiers.ts"
import { cutText, plain, type TextMedium } from "../../heart/notifications/cutText.ts"
import { digestText } from "../../heart/notifications/digestText.ts"
import { acknowledgeText, incidentText, isOver, testText } from "../../heart/notifications/incidentText.ts"
import { type Reader, readerTexts } from "../../heart/notifications/readerTexts.ts"
import type { Duration } from "effect"
import type { PushMessage } from "./PushService.ts"

/** The subject of a message: a test, one notification, or several as one. */
export type PushSubject =
  | { readonly about: "test"; readonly lang?: Language | undefined }
  | {
      readonly about: "notification"
      readonly notification: DeliveryAttempt
      /** Acknowledges the incident; absent where nothing may. */
      readonly acknowledge: { readonly token: string; readonly for: Duration.Duration } | undefined
    }
  | { readonly about: "digest"; readonly notifications: ReadonlyArray<DeliveryAttempt> }

/** So many bytes of JSON fit a body that every push service takes, whatever it says. */
export const MOST_BYTES = 3_000
const MOST_OF_TITLE = 200
/** Hardly ever cut again: texts of other scripts have three bytes a character. */
const MOST_CHARACTERS = 2_000

const TTL_SECONDS = 86_400
const TEST_TTL_SECONDS = 60

/** A notification leads to its incident, so that its text needs no ID; it has no details. */
const medium = (limit: number): TextMedium => ({
  limit,
  escape: plain,
  hasLinks: true,
  hasDetails: true,
  hasTitle: true,
})

/** Between the word of a test and its sentence, as the languages write it. */
const COLON = /\u00a0?: |：/u

const split = (text: string) => {
  const [title = "", ...rest] = text.split("\n")
  return { title: cutText(title, { limit: MOST_OF_TITLE, escape: plain }), body: rest.join("\n") }
}

const readerOf = (subject: PushSubject): Reader => {
  if (subject.about === "test") return subject
  return subject.about === "digest" ? (subject.notifications[0] ?? {}) : subject.notification
}

const isFiring = ({ event_type }: DeliveryAttempt): boolean => event_type === "firing"

/** Whether a message stays on the screen until it is touched. */
const stays = (notification: DeliveryAttempt): boolean =>
  isFiring(notification) && notification.severity === "critical" && !isOver(notification)

/** The looks and acts of a notification, without the text: the worker knows nothing else. */
const looksOf = (subject: PushSubject) => {
  const { no_answer: failed, open: title } = readerTexts(readerOf(subject)).words.link
  const open = { action: "open", title }
  switch (subject.about) {
    case "test":
      return { tag: "test", renotify: true, open: "#/receivers", actions: [open] }
    case "digest": {
      const { notifications } = subject
      const rings = notifications.some(isFiring)
      return {
        tag: "digest",
        renotify: rings,
        silent: !rings,
        requireInteraction: notifications.some(stays),
        open: "#/incidents",
        actions: [open],
      }
    }
    case "notification": {
      const { acknowledge, notification } = subject
      const { id } = notification.incident
      const isRinging = isFiring(notification)
      const looks = { tag: id, renotify: isRinging, silent: !isRinging, open: `#/incidents/${id}` }
      if (!isRinging) return { ...looks, actions: [open] }
      const rings = { ...looks, requireInteraction: stays(notification) }
      if (acknowledge === undefined) return { ...rings, actions: [open] }
      return {
        ...rings,
        actions: [{ action: "acknowledge", title: acknowledgeText(acknowledge.for, notification) }, open],
        link: `a/${acknowledge.token}`,
        failed,
      }
    }
  }
}

const textOf = (subject: PushSubject, limit: number): string => {
  switch (subject.about) {
    case "test":
      return testText(subject).replace(COLON, "\n")
    case "digest":
      // Nobody follows an address in a notification: touching it opens the list.
      return digestText(
        subject.notifications.map((notification) => ({ ...notification, links: undefined })),
        medium(limit),
      )
    case "notification": {
      const { notification } = subject
      const links = { incident: notification.incident.id, acknowledge: undefined }
      return incidentText({ ...notification, links, runbook: undefined }, medium(limit))
    }
  }
}

const urgencyOf = (subject: PushSubject): PushMessage["urgency"] => {
  const told = subject.about === "digest" ? subject.notifications : []
  const all = subject.about === "notification" ? [subject.notification] : told
  const isUrgent = all.some(({ event_type, severity }) => event_type === "firing" && severity === "critical")
  return isUrgent ? "high" : "normal"
}

/** The message of one browser, which proves by `shown` that it has shown it (docs/rules.md#browsers). */
export const pushMessage = (subject: PushSubject, shown: string): PushMessage => {
  const looks = looksOf(subject)
  const write = (limit: number): string => {
    const { body, title } = split(textOf(subject, limit))
    const cut = cutText(body, { limit, escape: plain })
    return JSON.stringify({ title, body: cut, ...looks, shown: `a/${shown}/shown` })
  }
  let limit = MOST_CHARACTERS
  let text = write(limit)
  for (let bytes = utf8Length(text); bytes > MOST_BYTES && limit > 0; bytes = utf8Length(text)) {
    // A unit that is left out takes away one byte at least, and mostly no more than three.
    limit = Math.max(0, limit - Math.max(1, Math.ceil((bytes - MOST_BYTES) / 3)))
    text = write(limit)
  }
  return {
    text,
    about: looks.tag,
    ttlSeconds: subject.about === "test" ? TEST_TTL_SECONDS : TTL_SECONDS,
    urgency: urgencyOf(subject),
  }
}
