import type { Receiver as Definition } from "@tocsin/contract/receivers/Receiver"
import type { ServiceKeys } from "../../src/services/Service.ts"
import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import type { services } from "../../src/services/services.ts"
import type { Received } from "../Receiver.ts"
import { heardIn } from "./TelephoneService.ts"

type ServiceType = keyof typeof services

/** A fake of a service: the receiver that writes to it, and the requests that the real one refuses. */
export interface Fake {
  readonly definition: Definition
  readonly secrets: Readonly<Record<string, string>>
  /** Path of the address. */
  readonly path: string
  /** The status that a request deserves. */
  readonly judge: (request: Received) => number
  /** The text for people in a request. */
  readonly textOf: (request: Received) => string
  /** An answer to too many requests, if its hint is in the body: 7 s. */
  readonly hint?: string
}

/** The keys of a fake's receiver, as its type reads them. */
export const serviceKeysOf = ({ definition, path, secrets }: Fake): ServiceKeys => {
  const { to, user = "", ...texts } = definition.kind === "messenger" ? definition : {}
  const none = { token: "", key: "", routing_key: "", user }
  const all = { ...texts, ...(typeof to === "string" && { to }) }
  return { ...none, ...secrets, path: withoutTrailing(path, "/"), definition: all }
}

const json = ({ body }: Received): Record<string, unknown> => Object(JSON.parse(body))
const form = ({ body }: Received): Record<string, string> => Object.fromEntries(new URLSearchParams(body))
const bytes = (text: unknown): number => Buffer.byteLength(String(text))
const characters = (text: unknown): number => Array.from(String(text)).length
const isText = (text: unknown, most: number): boolean => {
  const length = typeof text === "string" ? characters(text) : 0
  return length > 0 && length <= most
}
const isJson = ({ headers }: Received): boolean => headers["content-type"] === "application/json"
const isForm = ({ headers }: Received): boolean =>
  headers["content-type"] === "application/x-www-form-urlencoded"

/** Exactly these fields. */
const has = (body: object, ...names: ReadonlyArray<string>): boolean =>
  Object.keys(body).toSorted().join() === names.toSorted().join()

const isNumber = (text: unknown): boolean => /^\+[1-9]\d{6,14}$/.test(String(text))

const webhookOf = (
  type: "google_chat" | "mattermost" | "rocket_chat",
  fits: (text: unknown) => boolean,
): Fake => ({
  definition: { kind: "messenger", type },
  secrets: {},
  path: "/hooks/planted-path",
  judge: (request) => {
    if (request.method !== "POST" || request.path !== "/hooks/planted-path") return 404
    return isJson(request) && has(json(request), "text") && fits(json(request)["text"]) ? 200 : 400
  },
  textOf: (request) => String(json(request)["text"]),
})

/** An alarm that repeats, which its tag ends and its callback acknowledges. */
const isEmergency = ({ callback, expire, retry, tags }: Record<string, string>): boolean =>
  Number(retry) >= 30 && Number(expire) <= 10_800 && tags !== "" && callback !== ""

export const fakes: Readonly<Record<ServiceType, Fake>> = {
  ntfy: {
    definition: { kind: "messenger", type: "ntfy" },
    secrets: { token: "tk_planted" },
    path: "/below/planted-topic",
    judge: (request) => {
      const { headers, method, path } = request
      if (headers.authorization !== "Bearer tk_planted") return 401
      if (method !== "POST" || path !== "/below/") return 404
      const { call, message, priority, tags, title, topic } = json(request)
      if (call !== undefined && call !== "yes" && !isNumber(call)) return 400
      if (topic !== "planted-topic" || !Array.isArray(tags)) return 400
      if (!Number.isInteger(priority) || Number(priority) < 1 || Number(priority) > 5) return 400
      return bytes(message) <= 4_096 && isText(title, 1_024) && bytes(title) <= 1_024 ? 200 : 400
    },
    textOf: (request) => `${String(json(request)["title"])}\n${String(json(request)["message"])}`,
  },
  discord: {
    definition: { kind: "messenger", type: "discord" },
    secrets: {},
    path: "/api/webhooks/1/planted-token",
    judge: (request) => {
      if (request.path !== "/api/webhooks/1/planted-token") return 404
      const { allowed_mentions, content, flags } = json(request)
      if (JSON.stringify(allowed_mentions) !== '{"parse":[]}' || flags !== 4) return 400
      return isJson(request) && isText(content, 2_000) ? 204 : 400
    },
    textOf: (request) => String(json(request)["content"]),
    hint: '{"message":"You are being rate limited.","retry_after":6.457,"global":false}',
  },
  teams: {
    definition: { kind: "messenger", type: "teams" },
    secrets: {},
    path: "/workflows/planted/triggers/manual/paths/invoke",
    judge: (request) => {
      if (request.path !== "/workflows/planted/triggers/manual/paths/invoke") return 404
      if (request.method !== "POST" || !isJson(request)) return 400
      const { attachments, type } = json(request)
      const [{ content, contentType }] = attachments as [{ content: { type: string }; contentType: string }]
      const isCard =
        contentType === "application/vnd.microsoft.card.adaptive" && content.type === "AdaptiveCard"
      // Some senders were refused by the size in UTF-16.
      const size = Math.max(bytes(request.body), 2 * request.body.length)
      return type === "message" && isCard && size <= 28 * 1_024 ? 202 : 400
    },
    textOf: (request) =>
      Array.from(request.body.matchAll(/"type":"TextRun","text":("(?:[^"\\]|\\.)*")/g), ([, text = '""']) =>
        String(JSON.parse(text)),
      ).join("\n"),
  },
  google_chat: webhookOf("google_chat", (text) => bytes(text) <= 32_000),
  mattermost: webhookOf("mattermost", (text) => isText(text, 16_383)),
  rocket_chat: webhookOf("rocket_chat", (text) => isText(text, 5_000)),
  zulip: {
    definition: {
      kind: "messenger",
      type: "zulip",
      user: "bot@example.org",
      stream: "ops",
      topic: "Störungen",
    },
    secrets: { token: "planted" },
    path: "",
    judge: (request) => {
      const { headers, path } = request
      if (headers.authorization !== `Basic ${Buffer.from("bot@example.org:planted").toString("base64")}`)
        return 401
      if (path !== "/api/v1/messages") return 404
      const { content, to, topic, type } = form(request)
      if (!isForm(request) || type !== "stream" || to !== "ops" || topic !== "Störungen") return 400
      return bytes(content) <= 10_000 ? 200 : 400
    },
    textOf: (request) => form(request)["content"] ?? "",
    hint: '{"result":"error","code":"RATE_LIMIT_HIT","msg":"","retry-after":6.08}',
  },
  matrix: {
    definition: { kind: "messenger", type: "matrix", room: "!a/b:example.org" },
    secrets: { token: "planted" },
    path: "/base/",
    judge: (request) => {
      const { headers, method, path } = request
      if (headers.authorization !== "Bearer planted") return 401
      const form =
        /^\/base\/_matrix\/client\/v3\/rooms\/!a%2Fb%3Aexample\.org\/send\/m\.room\.message\/[\w-]+$/
      if (method !== "PUT" || !form.test(path)) return 404
      const event = json(request)
      const isPlain = has(event, "msgtype", "body", "m.mentions") && event["msgtype"] === "m.text"
      return isPlain && JSON.stringify(event["m.mentions"]) === "{}" && bytes(request.body) < 65_000
        ? 200
        : 400
    },
    textOf: (request) => String(json(request)["body"]),
    hint: '{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":6100}',
  },
  gotify: {
    definition: { kind: "messenger", type: "gotify" },
    secrets: { token: "planted" },
    path: "",
    judge: (request) => {
      if (request.headers["x-gotify-key"] !== "planted") return 401
      if (request.path !== "/message" || !isJson(request)) return 404
      const { message, priority, title } = json(request)
      return isText(message, 20_000) && typeof title === "string" && Number.isInteger(priority) ? 200 : 400
    },
    textOf: (request) => `${String(json(request)["title"])}\n${String(json(request)["message"])}`,
  },
  pushover: {
    definition: { kind: "messenger", type: "pushover" },
    secrets: { token: "planted-token", user: "planted-user" },
    path: "",
    judge: (request) => {
      if (request.path !== "/1/messages.json" || !isForm(request)) return 404
      const { html, message, priority, token, user } = form(request)
      if (token !== "planted-token" || user !== "planted-user") return 400
      if (priority === "2") return isEmergency(form(request)) ? 200 : 400
      return isText(message, 1_024) && html === undefined && /^(-[12]|0|1)$/.test(priority ?? "") ? 200 : 400
    },
    textOf: (request) => form(request)["message"] ?? "",
  },
  call: {
    definition: {
      kind: "messenger",
      type: "call",
      account: "AC0123",
      from: "+4930123456",
      to: "+4915112345678",
    },
    secrets: { token: "planted-token" },
    path: "",
    judge: (request) => {
      const { From, Timeout, To, Twiml = "" } = form(request)
      if (request.headers.authorization !== `Basic ${Buffer.from("AC0123:planted-token").toString("base64")}`)
        return 401
      if (request.path !== "/2010-04-01/Accounts/AC0123/Calls.json" || !isForm(request)) return 404
      return isNumber(From) && isNumber(To) && Timeout === "30" && isText(Twiml, 4_000) ? 201 : 400
    },
    textOf: (request) => heardIn(form(request)["Twiml"] ?? "").text,
  },
  sms: {
    definition: {
      kind: "messenger",
      type: "sms",
      account: "AC0123",
      from: "Tocsin",
      to: "+4915112345678",
    },
    secrets: { token: "planted-token" },
    path: "",
    judge: (request) => {
      const { Body = "", From, To } = form(request)
      if (request.headers.authorization !== `Basic ${Buffer.from("AC0123:planted-token").toString("base64")}`)
        return 401
      if (request.path !== "/2010-04-01/Accounts/AC0123/Messages.json" || !isForm(request)) return 404
      return From === "Tocsin" && isNumber(To) && isText(Body, 1_600) ? 201 : 400
    },
    textOf: (request) => form(request)["Body"] ?? "",
  },
  signal: {
    definition: { kind: "messenger", type: "signal", from: "+4915112345678", to: "group.cGxhbnRlZA==" },
    secrets: {},
    path: "/signal/",
    judge: (request) => {
      if (request.path !== "/signal/v2/send" || !isJson(request)) return 404
      const { message, number, recipients } = json(request)
      const isAddressed = isNumber(number) && JSON.stringify(recipients) === '["group.cGxhbnRlZA=="]'
      return has(json(request), "message", "number", "recipients") && isAddressed && isText(message, 2_000)
        ? 201
        : 400
    },
    textOf: (request) => String(json(request)["message"]),
  },
  apprise: {
    definition: { kind: "messenger", type: "apprise", tag: "ops" },
    secrets: {},
    path: "/notify/planted-key",
    judge: (request) => {
      if (request.path !== "/notify/planted-key") return 204
      const { body, format, tag, title, type } = json(request)
      const isKnown = ["info", "success", "warning", "failure"].includes(String(type))
      if (!has(json(request), "body", "format", "tag", "title", "type") || tag !== "ops") return 424
      return isJson(request) && isKnown && format === "text" && isText(body, 32_768) && isText(title, 8_192)
        ? 200
        : 400
    },
    textOf: (request) => `${String(json(request)["title"])}\n${String(json(request)["body"])}`,
  },
  pagerduty: {
    definition: { kind: "alert_router", type: "pagerduty" },
    secrets: { routing_key: "planted-routing-key" },
    path: "",
    judge: (request) => {
      if (request.path !== "/v2/enqueue" || !isJson(request)) return 404
      if (bytes(request.body) > 512 * 1_024) return 413
      const { dedup_key, event_action, payload, routing_key } = json(request)
      if (routing_key !== "planted-routing-key" || !isText(dedup_key, 255)) return 400
      if (event_action === "resolve") return 202
      const { severity, source, summary } = Object(payload)
      const isKnown = ["critical", "error", "warning", "info"].includes(severity)
      return event_action === "trigger" && isKnown && isText(summary, 1_024) && isText(source, 1_024)
        ? 202
        : 400
    },
    textOf: (request) => String(Object(Object(json(request)["payload"])["custom_details"])["text"] ?? ""),
  },
  opsgenie: {
    definition: { kind: "alert_router", type: "opsgenie" },
    secrets: { key: "planted-key" },
    path: "",
    judge: (request) => {
      if (request.headers.authorization !== "GenieKey planted-key") return 401
      if (!isJson(request)) return 415
      if (/^\/v2\/alerts\/[\w-]+\/close\?identifierType=alias$/.test(request.path)) return 202
      if (request.path !== "/v2/alerts") return 404
      const { alias, description, message, priority } = json(request)
      const fits = isText(message, 130) && isText(alias, 512) && isText(description, 15_000)
      return fits && /^P[1-5]$/.test(String(priority)) ? 202 : 422
    },
    textOf: (request) => String(json(request)["description"] ?? ""),
  },
}
