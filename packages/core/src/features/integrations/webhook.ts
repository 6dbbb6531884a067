import { Option, Predicate } from "effect"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { pathOfPointer, valueAt } from "@tocsin/contract/formats/jsonPointer"
import { ALERT_OPTIONS, type AlertRules, readAlerts, readJsonBody, resultOf } from "./alerts.ts"
import { JSON_TEXT, type Kind, OF_MANY_CHECKS } from "./Kind.ts"
import { checkLabels } from "./deriveCheck.ts"
import {
  checkIdOfParts,
  invalid,
  NOT_FOUND,
  type Reading,
  readingOf,
  type Refusal,
  type Report,
  type Translate,
  type TranslationContext,
  unexplained,
} from "./Report.ts"

/** An address of Amazon SNS, where alone a subscription is confirmed: its host, without user and port. */
const ADDRESS = /^https:\/\/sns\.[a-z0-9-]{3,32}\.amazonaws\.com(?:\.cn)?\/[!-~]*$/u

const parsed = Option.liftThrowable((text: string): unknown => JSON.parse(text))

const NOTHING: Reading = { reports: [], refusals: [], heard: [] }

/**
 * The content of a message of Amazon SNS: the JSON in a notification, or itself where that is plain text; the
 * confirmation of a subscription, and its end. `undefined` for other JSON (docs/rules.md#other-json).
 */
const readSns = (json: unknown): { readonly json: unknown } | Reading | Refusal | undefined => {
  if (!Predicate.isObject(json)) return undefined
  const { Message, SubscribeURL, TopicArn, Type } = json
  if (typeof TopicArn !== "string" || !TopicArn.startsWith("arn:") || typeof Message !== "string")
    return undefined
  switch (Type) {
    case "Notification": {
      const inside = Option.getOrUndefined(parsed(Message))
      return { json: Predicate.isObjectOrArray(inside) ? inside : json }
    }
    case "SubscriptionConfirmation": {
      return typeof SubscribeURL !== "string" || !ADDRESS.test(SubscribeURL)
        ? invalid(
            "the SubscribeURL must be an https address of Amazon SNS, such as https://sns.eu-central-1.amazonaws.com/: the subscription is not confirmed",
          )
        : { ...NOTHING, confirms: SubscribeURL }
    }
    case "UnsubscribeConfirmation":
      return {
        ...NOTHING,
        refusals: [
          {
            refused: "ignored",
            message: "Amazon SNS sends no more messages of its topic here: subscribe again if it shall",
          },
        ],
      }
    default:
      return undefined
  }
}

/** Alertmanager's webhook has version 4, Grafana's version 1. Both repeat alerts after hours, if at all. */
const VERSIONS: ReadonlyArray<unknown> = ["4", "1"]

const RULES: AlertRules = {
  isFiring: ({ ends_at, status }, now) =>
    status === undefined ? ends_at === undefined || ends_at > now : status !== "resolved",
  repeats: false,
}

const alertsIn = (json: unknown): ReadonlyArray<unknown> | undefined => {
  if (!Predicate.isObject(json)) return undefined
  const { alerts, version } = json
  return Array.isArray(alerts) && VERSIONS.includes(version) ? alerts : undefined
}

/** Why a webhook is not whole: its sender leaves out alerts beyond its limit, and counts them. */
const leftOut = (json: unknown): ReadonlyArray<Refusal> => {
  const count = Number(textAt(json, "/truncatedAlerts") ?? 0)
  if (!(count > 0)) return []
  return [invalid(`the sender left out alerts (${count}): set max_alerts of its webhook to 0`)]
}

/** The value at a JSON Pointer (RFC 6901), as text; `undefined` if there is none. */
const textAt = (json: unknown, pointer: string): string | undefined => {
  const value = valueAt(json, pathOfPointer(pointer))
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined
}

type Mapping = NonNullable<IntegrationOptions["map"]>

/** Whether something has a list at the rest of a place, in any item of the lists on the way. */
const hasList = (json: unknown, [name, ...rest]: ReadonlyArray<string>): boolean => {
  if (name === undefined) return Array.isArray(json)
  return Array.isArray(json) ? json.some((item) => hasList(item, rest)) : hasList(valueAt(json, [name]), rest)
}

/**
 * Why a place in one item of a list is refused: the other items would be lost. A name may be one of several texts, but not
 * a status one of several. `isCounted` has an item, and the rest of the place behind it.
 */
const lostItems = (
  json: unknown,
  pointer: string,
  list: string | undefined,
  isCounted: (item: unknown, rest: ReadonlyArray<string>) => boolean,
): Refusal | undefined => {
  const path = pathOfPointer(pointer)
  const lists = path.map((_, depth) => valueAt(json, path.slice(0, depth)))
  const counts = lists.map((found, depth) =>
    Array.isArray(found) ? found.filter((item) => isCounted(item, path.slice(depth + 1))).length : 0,
  )
  const depth = counts.findIndex((count) => count > 1)
  if (depth === -1) return undefined
  const at =
    pointer
      .split("/")
      .slice(0, depth + 1)
      .join("/") || '""'
  const lost = `the list at ${at} has ${counts[depth]} items, of which the map reads one`
  return invalid(
    list === undefined || list === ""
      ? `${lost}: give its place as list in the option map`
      : `${lost}, as lists in a list cannot be mapped: send each of these items in a request of its own`,
  )
}

const STATUSES = ["ok", "warning", "critical", "unknown"] as const

type Values = NonNullable<IntegrationOptions["values"]>

const namedBy = (value: unknown, values: Values) =>
  STATUSES.find((each) => (values[each] ?? [each]).some((one) => one === value))

/** The meaning of a sender's status; `undefined` if it is not known. */
const meaningOf = (value: string | undefined, values: Values) => {
  const { ignore = [] } = values
  if (value === undefined) return values.default
  if (ignore.includes(value)) return "ignore"
  return namedBy(value, values) ?? values.default
}

/** The result that JSON states at the places of a map; `undefined` if it is none. */
const readItem = (
  json: unknown,
  { check, labels = {}, list, output, status: place }: Mapping,
  { options, sha256 }: TranslationContext,
  subject = "the request body",
): Report | Refusal | undefined => {
  const places = typeof check === "string" ? [check] : check
  const lost =
    places
      .map((pointer) => lostItems(json, pointer, list, Predicate.isObject))
      .find(Predicate.isNotUndefined) ??
    lostItems(
      json,
      place,
      list,
      (one) => Predicate.isObject(one) || namedBy(one, options.values ?? {}) !== undefined,
    )
  if (lost !== undefined) return lost
  const parts = places.map((pointer) => textAt(json, pointer) ?? "")
  const missing = places[parts.indexOf("")]
  if (missing !== undefined) return invalid(`${subject} must name a check at ${missing}`)
  const value = textAt(json, place)
  const status = meaningOf(value, options.values ?? {})
  if (status === "ignore") return undefined
  if (status === undefined)
    return invalid(
      value === undefined
        ? `${subject} must have a status at ${place}`
        : `the status at ${place} must be one of the option values`,
    )
  const texts = Object.fromEntries(
    Object.entries(labels).map(([name, pointer]) => [name, textAt(json, pointer) ?? ""]),
  )
  const given = Object.keys(texts).filter((name) => texts[name] !== "")
  const report = resultOf(
    checkIdOfParts(parts, sha256),
    status,
    (output === undefined ? undefined : textAt(json, output)) ?? "",
    { by: "source", source: "", lease_millis: undefined },
    Object.keys(labels).length === 0 ? undefined : checkLabels(texts, "", given, options),
  )
  return status === "ok" ? report : { ...report, ...unexplained(value ?? "") }
}

/** The results of a list, each on its own: one that cannot be read refuses no other. */
const readItems = (items: ReadonlyArray<unknown>, map: Mapping, context: TranslationContext): Reading => {
  const reports: Array<Report> = []
  const refusals: Array<Refusal> = []
  for (const [index, item] of items.entries()) {
    const read = readItem(item, map, context, `item ${index + 1}`)
    if (read === undefined) continue
    if ("refused" in read) refusals.push(read)
    else reports.push(read)
  }
  return { reports, refusals, heard: [] }
}

const readMapped = (json: unknown, map: Mapping, context: TranslationContext): Reading | Refusal => {
  const { list } = map
  if (list === undefined) {
    const read = readItem(json, map, context) ?? { reports: [], refusals: [], heard: [] }
    return "signal" in read ? readingOf(read) : read
  }
  const lost = lostItems(json, list, list, hasList)
  if (lost !== undefined) return lost
  const found = list === "" ? json : valueAt(json, pathOfPointer(list))
  if (Array.isArray(found)) return readItems(found, map, context)
  return list === ""
    ? readItems([json], map, context)
    : invalid(`the request body must have a list at ${list}`)
}

/** The JSON of a body; of one that has an item a line, their list. */
const readWhole = (body: string, { map }: IntegrationOptions): ReturnType<typeof readJsonBody> => {
  const read = readJsonBody(body)
  if ("json" in read || map?.list !== "") return read
  const lines = body.split("\n").filter((line) => line.trim() !== "")
  const items = lines.map(readJsonBody)
  const json = items.flatMap((item) => ("json" in item ? [item.json] : []))
  return json.length === lines.length && lines.length > 0 ? { json } : read
}

const readWebhook: Translate = ({ body, path }, context) => {
  if (path.length > 0) return NOT_FOUND
  const whole = readWhole(body, context.options)
  if ("refused" in whole) return whole
  const read = readSns(whole.json) ?? whole
  if (!("json" in read)) return read
  const alerts = alertsIn(read.json)
  if (alerts !== undefined) {
    const reading = readAlerts(alerts, context, RULES)
    return "refused" in reading
      ? reading
      : { ...reading, refusals: [...leftOut(read.json), ...reading.refusals] }
  }
  const { map } = context.options
  if (map !== undefined) return readMapped(read.json, map, context)
  return invalid("the request body must be a webhook of Alertmanager or Grafana; others need the option map")
}

/** Webhooks of Alertmanager and Grafana, and other JSON by a map (docs/rules.md#alerts). */
export const webhook: Kind = {
  ...OF_MANY_CHECKS,
  // Shippers of logs send again what has another status, and all that follows waits.
  protocol: { ...JSON_TEXT, statuses: { validation: 422 } },
  translate: readWebhook,
  options: [...ALERT_OPTIONS, "map", "values"],
}
