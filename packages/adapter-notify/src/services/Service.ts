import { cutText, plain, type TextMedium } from "@tocsin/core/heart/notifications/cutText"
import type { NamedLink, NotifiedIncident } from "@tocsin/core/heart/notifications/incidentText"
import type { Language } from "@tocsin/contract/languages/Language"
import type { Verdicts } from "../http/receipts.ts"
import type { PostParts } from "../http/HttpPost.ts"
import type { ChatMessage, Tone } from "../text/ChatMessage.ts"

/** A message with its text, fitted to the service. */
export interface Written {
  /** The same for a repeat of the same message. */
  readonly id: string
  readonly text: string
  readonly incident: NotifiedIncident | undefined
  /** Why it comes, for services that say it outside the text. */
  readonly why?: string | undefined
  readonly tone: Tone
  /** How many incidents it is about. */
  readonly count: number
  /** The incidents of firings. */
  readonly tags: ReadonlyArray<string>
  readonly links: ReadonlyArray<NamedLink>
}

/** The keys of a receiver: its secrets, and the texts of its definition. */
export interface ServiceKeys {
  readonly token: string
  /** Pushover's recipient, Zulip's bot, an API key. */
  readonly user: string
  readonly key: string
  readonly routing_key: string
  /** Path of the address, without a slash at its end. */
  readonly path: string
  readonly definition: ServiceDefinition
}

/** The texts of a receiver's definition, by its keys; those that its type needs are there. */
export type ServiceDefinition = Partial<
  Readonly<
    Record<"account" | "call" | "from" | "language" | "room" | "stream" | "tag" | "to" | "topic", string>
  >
> & { readonly emergency?: boolean; readonly lang?: Language }

/** A request that carries a message. Posts JSON, unless it has a type. */
export interface ServiceRequest extends PostParts {
  readonly body: string | object
  /** Is posted before, in a third of the time. Its answer decides nothing. */
  readonly before?: ServiceRequest
  /** Is posted in the same attempt after an answer of 4xx. */
  readonly otherwise?: ServiceRequest
}

/** How messages are written to a service (docs/notifications.md#types). */
export interface Service extends TextMedium {
  /** The address where a receiver gives none. */
  readonly address?: string
  /** Seconds to wait by the body of an answer, for services that send no Retry-After. */
  readonly retryAfterOf?: (body: string) => number | undefined
  /** The outcomes of statuses that mean something else here than everywhere else. */
  readonly verdicts?: Verdicts
  /** The seconds before each further attempt after a status; after the last one, it refuses for good. */
  readonly triedAgain?: { readonly status: number; readonly after: ReadonlyArray<number> }
  /** It rings a phone: whether it may have rung matters. */
  readonly isPhone?: true
  /** Ends the alarm of an incident, where a receiver has `emergency`. */
  readonly endAlarm?: (incident: string, keys: ServiceKeys) => ServiceRequest
  /** Writes the text, where that is not what all services get. */
  readonly textOf?: (message: ChatMessage) => string
  /** Pure: the same message makes the same request. */
  readonly request: (message: Written, keys: ServiceKeys) => ServiceRequest
}

const ZERO_WIDTH_SPACE = "\u200b"
const MARKUP = /[@<[\]`~]|:(?=\/\/)|\bwww(?=\.)/gi

/**
 * Ends whatever could begin a mention, a link, an image or a block of code, for services whose Markdown has
 * no reliable escapes.
 */
export const defused = (text: string): string => text.replace(MARKUP, (found) => found + ZERO_WIDTH_SPACE)

/** Reads a number of a JSON object as seconds, rounded up. */
export const secondsAt =
  (name: string, perSecond = 1) =>
  (body: string): number | undefined => {
    const found = new RegExp(String.raw`"${name}"\s*:\s*(\d{1,9}(?:\.\d{1,9})?)\s*[,}]`).exec(body)?.[1]
    return found === undefined ? undefined : Math.ceil(Number(found) / perSecond)
  }

/** A form instead of JSON. */
export const form = (fields: Readonly<Record<string, string>>) => ({
  type: "application/x-www-form-urlencoded",
  body: new URLSearchParams(fields).toString(),
})

/** Basic credentials as a header. */
export const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
})

/** An incoming webhook that takes text alone. */
export const ofText = (limit: number): Service => ({
  limit,
  escape: defused,
  request: ({ text }) => ({ body: { text } }),
})

/** The first line of a text as its title. */
export const titled = (text: string) => {
  const [title = "", ...rest] = text.split("\n")
  return { title, message: rest.join("\n") || title }
}

/** The place and what is wrong there, cut to a limit. */
export const summaryOf = ({ text }: Written, limit: number): string =>
  cutText(text.split("\n").slice(0, 2).join(": "), { limit, escape: plain })

/** The key of an alert of a paging service, which repeats and the resolution have too. */
export const alertKeyOf = ({ id, incident }: Written): string => incident?.id ?? id
