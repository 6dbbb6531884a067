import * as Instant from "@tocsin/contract/Instant"
import type { ReceiverType } from "@tocsin/contract/ReceiverTypes"
import {
  cutText,
  type NamedLink,
  type NotifiedIncident,
  plain,
  type TextMedium,
} from "@tocsin/core/notifications/incidentText"
import type { PostParts } from "../http/HttpPost.ts"
import type { Tone } from "../text/ChatMessage.ts"

/** A message with its text, fitted to the service. */
export interface Written {
  /** The same for a repeat of the same message. */
  readonly id: string
  readonly text: string
  readonly incident: NotifiedIncident | undefined
  readonly tone: Tone
  readonly links: ReadonlyArray<NamedLink>
}

/** The keys of a receiver: its secrets, and the texts of its definition. */
export interface ServiceKeys {
  readonly token: string
  /** Pushover's recipient, Zulip's bot. */
  readonly user: string
  readonly key: string
  readonly routing_key: string
  readonly room: string
  readonly stream: string
  readonly topic: string
  /** Path of the address, without a slash at its end. */
  readonly path: string
}

interface Service extends TextMedium {
  /** The address where a receiver gives none. */
  readonly address?: string
  /** Seconds to wait by the body of an answer, for services that send no Retry-After. */
  readonly retryAfterOf?: (body: string) => number | undefined
  /** Pure: the same message makes the same request. Posts JSON, unless it has a type. */
  readonly request: (message: Written, keys: ServiceKeys) => PostParts & { readonly body: string | object }
}

const ZERO_WIDTH_SPACE = "\u200b"
const MARKUP = /[@<[\]`~]|:(?=\/\/)|\bwww(?=\.)/gi

/**
 * Ends whatever could begin a mention, a link, an image or a block of code, for services whose Markdown has
 * no reliable escapes.
 */
const defused = (text: string): string => text.replace(MARKUP, (found) => found + ZERO_WIDTH_SPACE)

/** Also `:`, which keeps addresses from becoming links. */
const MARKDOWN = /[\\`*_~|>#\-[\]()<:@]/g

/** Reads a number of a JSON object as seconds, rounded up. */
const secondsAt =
  (name: string, perSecond = 1) =>
  (body: string): number | undefined => {
    const found = new RegExp(String.raw`"${name}"\s*:\s*(\d{1,9}(?:\.\d{1,9})?)\s*[,}]`).exec(body)?.[1]
    return found === undefined ? undefined : Math.ceil(Number(found) / perSecond)
  }

const form = (fields: Readonly<Record<string, string>>) => ({
  type: "application/x-www-form-urlencoded",
  body: new URLSearchParams(fields).toString(),
})

const ofText = (limit: number): Service => ({
  limit,
  escape: defused,
  request: ({ text }) => ({ body: { text } }),
})

/** The first line of a text as its title. */
const titled = (text: string) => {
  const [title = "", ...rest] = text.split("\n")
  return { title, message: rest.join("\n") || title }
}

const summaryOf = ({ text }: Written, limit: number): string =>
  cutText(text.split("\n").slice(0, 2).join(": "), { limit, escape: plain })

const keyOf = ({ id, incident }: Written): string => incident?.id ?? id

/** How each service names the tone of a message. */
const TONES = {
  teams: { critical: "attention", warning: "warning", unknown: "warning", resolved: "good", test: "default" },
  pagerduty: { critical: "critical", unknown: "error", warning: "warning", test: "info", resolved: "info" },
  opsgenie: { critical: "P1", unknown: "P2", warning: "P3", test: "P5", resolved: "P5" },
  ntfy: {
    critical: { priority: 5, tags: ["rotating_light"] },
    warning: { priority: 4, tags: ["warning"] },
    unknown: { priority: 4, tags: ["question"] },
    resolved: { priority: 3, tags: ["white_check_mark"] },
    test: { priority: 3, tags: [] },
  },
  gotify: { critical: 8, warning: 5, unknown: 5, resolved: 2, test: 5 },
} as const

const SUPPRESS_EMBEDS = 4

const textBlock = (line: string, style: object) => ({
  type: "RichTextBlock",
  inlines: [{ type: "TextRun", text: line, ...style }],
})

/** More is refused: at most 1 KB of UTF-8, of which a character has at most 3 bytes, or 4 for two. */
const NTFY_TITLE = { limit: 340, escape: plain }

/** The buttons below a message: that which acts needs no browser. */
const actionOf = ({ acts, title: label, url }: NamedLink) =>
  acts ? { action: "http", label, url, method: "POST", clear: true } : { action: "view", label, url }

/**
 * The services of all types but e-mail (docs/notifications.md#types). Statuses decide as for every receiver:
 * 408, 425, 429 and 5xx are retried, others below 500 are permanent. Each states where its limits are from, as
 * of November 2026.
 */
export const services: Readonly<Record<Exclude<ReceiverType, "email">, Service>> = {
  /** An incoming webhook; at most 32,000 bytes (developers.google.com, "spaces.messages.create"). */
  google_chat: ofText(8_000),

  /** An incoming webhook; 16,383 characters (docs.mattermost.com, "Incoming webhooks"). */
  mattermost: ofText(16_383),

  /**
   * An incoming webhook; 5,000 characters unless the server allows more (`Message_MaxAllowedSize` in
   * github.com/RocketChat/Rocket.Chat, `apps/meteor/server/settings/message.ts`).
   */
  rocket_chat: ofText(5_000),

  /** A message to a channel; at most 10,000 bytes (zulip.com/api/send-message). */
  zulip: {
    limit: 3_300,
    escape: defused,
    retryAfterOf: secondsAt("retry-after"),
    request: ({ text }, { path, stream, token, topic, user }) => ({
      path: `${path}/api/v1/messages`,
      headers: { authorization: `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}` },
      ...form({ type: "stream", to: stream, topic, content: text }),
    }),
  },

  /** An incoming webhook; 2,000 characters (docs.discord.com, "Execute Webhook" and "Rate Limits", August 2026). */
  discord: {
    limit: 2_000,
    escape: (text) => text.replace(MARKDOWN, String.raw`\$&`),
    retryAfterOf: secondsAt("retry_after"),
    request: ({ text }) => ({
      body: { content: text, allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS },
    }),
  },

  /**
   * A message to an unencrypted room. The event has at most 65,536 bytes, and an empty `m.mentions` mentions
   * no one (spec.matrix.org, client-server API, "Size limits", July 2026). Older servers send their hint in the
   * body only.
   */
  matrix: {
    limit: 8_000,
    escape: plain,
    retryAfterOf: secondsAt("retry_after_ms", 1_000),
    request: ({ id, text }, { path, room, token }) => ({
      method: "PUT",
      path: `${path}/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/${encodeURIComponent(id)}`,
      headers: { authorization: `Bearer ${token}` },
      body: { msgtype: "m.text", body: text, "m.mentions": {} },
    }),
  },

  /**
   * A Workflows address takes an Adaptive Card, whose text runs know no Markdown; at most 28 KB, which senders
   * saw counted in UTF-16 (learn.microsoft.com, "Create an Incoming Webhook").
   */
  teams: {
    limit: 6_000,
    escape: plain,
    hasLinks: true,
    request: ({ links, text, tone }) => {
      const [title = "", ...rest] = text.split("\n")
      const content = {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        body: [
          textBlock(title, { weight: "bolder", color: TONES.teams[tone] }),
          ...rest.map((line) => textBlock(line, {})),
        ],
        ...(links.length > 0 && {
          actions: links.map((link) => ({ type: "Action.OpenUrl", title: link.title, url: link.url })),
        }),
      }
      const attachment = { contentType: "application/vnd.microsoft.card.adaptive", content }
      return { body: { type: "message", attachments: [attachment] } }
    },
  },

  /**
   * Events API v2: the summary has 1,024 characters, the key 255, and an event of the same key repeats
   * nothing (PagerDuty developer docs, "Events API v2").
   */
  pagerduty: {
    address: "https://events.pagerduty.com",
    limit: 8_000,
    escape: plain,
    hasLinks: true,
    request: (message, { path: base, routing_key }) => {
      const path = `${base}/v2/enqueue`
      const event = { routing_key, dedup_key: keyOf(message) }
      if (message.tone === "resolved") return { path, body: { ...event, event_action: "resolve" } }
      const { incident } = message
      const payload = {
        summary: summaryOf(message, 1_024),
        source: incident?.opener_agent_id ?? "tocsin",
        severity: TONES.pagerduty[message.tone],
        ...(incident !== undefined && { timestamp: Instant.format(incident.opened_at) }),
        custom_details: { text: message.text },
      }
      const links = message.links.map(({ title, url }) => ({ href: url, text: title }))
      return { path, body: { ...event, event_action: "trigger", payload, links } }
    },
  },

  /**
   * Alert API: the message has 130 characters, the alias 512, the description 15,000, and an open alert of the
   * alias is counted, not repeated (docs.opsgenie.com, "Alert API").
   */
  opsgenie: {
    address: "https://api.opsgenie.com",
    limit: 8_000,
    escape: plain,
    request: (message, { key, path: base }) => {
      const headers = { authorization: `GenieKey ${key}` }
      const alias = keyOf(message)
      if (message.tone === "resolved") {
        const path = `${base}/v2/alerts/${encodeURIComponent(alias)}/close?identifierType=alias`
        return { path, headers, body: { source: "tocsin" } }
      }
      const body = {
        message: summaryOf(message, 130),
        alias,
        description: message.text,
        source: "tocsin",
        priority: TONES.opsgenie[message.tone],
      }
      return { path: `${base}/v2/alerts`, headers, body }
    },
  },

  /**
   * A topic, published as JSON to the server's root; at most 4,096 bytes (docs.ntfy.sh, "Limitations"), and 1 KB
   * of title (github.com/binwiederhier/ntfy, release 2.28.0 of August 2026).
   */
  ntfy: {
    limit: 1_300,
    escape: plain,
    hasLinks: true,
    request: ({ links, text, tone }, { path, token }) => {
      const slash = path.lastIndexOf("/")
      const { message, title } = titled(text)
      return {
        path: `${path.slice(0, slash)}/`,
        ...(token !== "" && { headers: { authorization: `Bearer ${token}` } }),
        body: {
          topic: path.slice(slash + 1),
          title: cutText(title, NTFY_TITLE),
          message,
          ...TONES.ntfy[tone],
          ...(links[0] && { click: links[0].url, actions: links.map(actionOf) }),
        },
      }
    },
  },

  /** A message of an application, as plain text; it has no limit (github.com/gotify/server, `api/message.go`, July 2026). */
  gotify: {
    limit: 8_000,
    escape: plain,
    request: ({ text, tone }, { path, token }) => ({
      path: `${path}/message`,
      headers: { "x-gotify-key": token },
      body: { ...titled(text), priority: TONES.gotify[tone] },
    }),
  },

  /** A message of 1,024 characters, without HTML (pushover.net/api). */
  pushover: {
    address: "https://api.pushover.net",
    limit: 1_024,
    escape: plain,
    request: ({ text, tone }, { path, token, user }) => ({
      path: `${path}/1/messages.json`,
      ...form({ token, user, message: text, priority: tone === "critical" ? "1" : "0" }),
    }),
  },
}
