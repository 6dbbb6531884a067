import { Predicate } from "effect"
import { type IntegrationOptions, isPagedSeverity } from "@tocsin/contract/integrations/Integrations"
import type { PagedTrigger } from "./PagedAlert.ts"
import { readJsonBody } from "./alerts.ts"
import type { Texts } from "./deriveCheck.ts"
import type { Kind } from "./Kind.ts"
import {
  alertIdOf,
  byName,
  madeName,
  PAGING,
  PAGING_OPTIONS,
  PAGING_PROTOCOL,
  readAct,
  readShallowJson,
  readStated,
  textOf,
  textsIn,
} from "./paging.ts"
import {
  type Answer,
  invalid,
  NOT_FOUND,
  type Reading,
  type Refusal,
  type SenderRequest,
  type Translate,
  type TranslationContext,
} from "./Report.ts"

/** The actions of an event. */
export const ACTIONS: Readonly<Record<string, PagedTrigger>> = {
  trigger: "triggered",
  acknowledge: "acknowledged",
  resolve: "resolved",
}

const USUAL = { critical: "critical", error: "critical", warning: "warning", info: "warning" } as const

const statusOf = (severity: string, { severity: chosen = {} }: IntegrationOptions) => {
  const statuses = { ...USUAL, ...(isPagedSeverity(chosen) && chosen) }
  return Object.entries(statuses).find(([name]) => name === severity.toLowerCase())?.[1] ?? "warning"
}

const NAMED = ["source", "component", "group", "class"] as const

const answerOf = (dedup_key: string): Answer => ({
  status: 202,
  body: JSON.stringify({ status: "success", message: "Event processed", dedup_key }),
})

/** The labels that all alerts have in the text of Alertmanager's details, which lists them by ` - NAME = VALUE`. */
const listedLabels = ({ firing = "", resolved = "" }: Texts): Texts => {
  const [first = new Map<string, string>(), ...others] = (firing || resolved)
    .split(/^Labels:$/mu)
    .slice(1)
    .map((text) => {
      const [labels = ""] = text.split(/^Annotations:$/mu)
      return new Map(
        Array.from(labels.matchAll(/^ - (\w+) = (.*)$/gmu), ([, name = "", value = ""]) => [name, value]),
      )
    })
  return Object.fromEntries(
    Array.from(first).filter(([name, value]) => others.every((labels) => labels.get(name) === value)),
  )
}

/** The labels of an event, and the lines of its details. */
const readDetails = (payload: Texts, given: unknown) => {
  const details = byName(textsIn(given))
  const named = NAMED.flatMap((name) => (payload[name] === undefined ? [] : [[name, payload[name]]]))
  return {
    labels: {
      ...Object.fromEntries(named),
      ...listedLabels(details),
      ...details,
      ...Object.fromEntries(named),
    } as Texts,
    lines: typeof given === "string" ? [given] : Object.entries(details).map((pair) => pair.join(": ")),
  }
}

const readEvent = (
  { dedup_key, event_action, links, payload: given }: Readonly<Record<string, unknown>>,
  { options, sha256 }: TranslationContext,
): Reading | Refusal => {
  const trigger = Object.entries(ACTIONS).find(([action]) => action === event_action)?.[1]
  if (trigger === undefined) return invalid("event_action must be trigger, acknowledge or resolve")
  const { custom_details, ...others } = Predicate.isObject(given) ? given : {}
  const payload = textsIn(others)
  const { severity = "", summary = "" } = payload
  if (textOf(dedup_key) === "" && trigger !== "triggered") return invalid("dedup_key must name the alert")
  if (summary === "" && trigger === "triggered") return invalid("payload.summary must be a text")
  const named = [...NAMED, "summary"].map((name) => payload[name])
  const key = textOf(dedup_key) || madeName(named, sha256)
  const [check_id, answer] = [alertIdOf(key, sha256), answerOf(key)]
  if (trigger === "acknowledged") return readAct({ check_id, trigger }, answer)
  const status = trigger === "resolved" ? "ok" : statusOf(severity, options)
  if (status === "ignore") return readAct(undefined, answer)
  const { labels, lines } = readDetails(payload, custom_details)
  const [link]: ReadonlyArray<unknown> = Array.isArray(links) ? links : []
  const href = textsIn(link)["href"] ?? ""
  const stated = { check_id, lines: [summary, ...lines] }
  return readStated(
    status === "ok" ? { ...stated, status } : { ...stated, status, labels, link: href },
    options,
    answer,
  )
}

/** The places of events, below the key. */
const EVENTS = "v2/enqueue"
const CHANGES = "v2/change/enqueue"

const ROUTING_KEY = /"routing_key"\s*:\s*"([\w-]+)"/u

/** The key of an event; of the beginning of a long one, too. */
const keyOf = ({ body }: Pick<SenderRequest, "body">): string | undefined => {
  const read = readJsonBody(body)
  if ("refused" in read) return ROUTING_KEY.exec(body)?.[1]
  const key = Predicate.isObject(read.json) ? read.json["routing_key"] : undefined
  return typeof key === "string" ? key : undefined
}

const translate: Translate = ({ body, path }, context) => {
  const place = path.join("/")
  if (place !== EVENTS && place !== CHANGES) return NOT_FOUND
  const read = readShallowJson(body)
  if ("refused" in read) return read
  if (!Predicate.isObject(read.json)) return invalid("the request body must be an event")
  if (place === EVENTS) return readEvent(read.json, context)
  return readAct(undefined, {
    status: 202,
    body: JSON.stringify({ status: "success", message: "Change event processed" }),
  })
}

/** PagerDuty's Events API, version 2 (docs/rules.md#pagerduty-and-opsgenie). */
export const pagerduty: Kind = {
  ...PAGING,
  protocol: {
    ...PAGING_PROTOCOL,
    hasHeader: false,
    keyOf,
    say: (failure) =>
      JSON.stringify({
        status: failure?.code === "rate_limited" ? "throttle exceeded" : "invalid event",
        message: failure?.message,
        errors: [failure?.message],
      }),
  },
  translate,
  options: [...PAGING_OPTIONS, "severity"],
  isSeverity: isPagedSeverity,
  paths: (key) => [`/${EVENTS}`, `/${key}/${EVENTS}`],
}
