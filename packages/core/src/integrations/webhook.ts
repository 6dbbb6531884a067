import { Predicate } from "effect"
import type { IntegrationOptions } from "@tocsin/contract/Integrations"
import { pathOfPointer, valueAt } from "@tocsin/contract/jsonPointer"
import { ALERT_OPTIONS, type AlertRules, readAlerts, readJsonBody, resultOf } from "./alerts.ts"
import { JSON_TEXT, type Kind, OF_MANY_CHECKS } from "./Kind.ts"
import {
  checkIdOf,
  invalid,
  NOT_FOUND,
  type Reading,
  readingOf,
  type Refusal,
  type Translate,
  type TranslationContext,
  unexplained,
} from "./Report.ts"

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

/** The value at a JSON Pointer (RFC 6901), as text; `undefined` if there is none. */
const textAt = (json: unknown, pointer: string): string | undefined => {
  const value = valueAt(json, pathOfPointer(pointer))
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined
}

const STATUSES = ["ok", "warning", "critical"] as const

/** The result that a JSON body states at the places of a map. */
const readMapped = (
  json: unknown,
  map: NonNullable<IntegrationOptions["map"]>,
  { options: { values = {} }, sha256 }: TranslationContext,
): Reading | Refusal => {
  const name = textAt(json, map.check)
  if (name === undefined || name === "") return invalid(`the request body must name a check at ${map.check}`)
  const value = textAt(json, map.status)
  if (value === undefined) return invalid(`the request body must have a status at ${map.status}`)
  const status = STATUSES.find((each) => (values[each] ?? [each]).includes(value))
  if (status === undefined) return invalid(`the status at ${map.status} must be one of the option values`)
  const output = (map.output === undefined ? undefined : textAt(json, map.output)) ?? ""
  const expects = { by: "source", source: "", lease_millis: undefined } as const
  const report = resultOf(checkIdOf(name, sha256), status, output, expects)
  return readingOf(status === "ok" ? report : { ...report, ...unexplained(value) })
}

const readWebhook: Translate = ({ body, path }, context) => {
  if (path.length > 0) return NOT_FOUND
  const read = readJsonBody(body)
  if ("refused" in read) return read
  const alerts = alertsIn(read.json)
  if (alerts !== undefined) return readAlerts(alerts, context, RULES)
  const { map } = context.options
  if (map !== undefined) return readMapped(read.json, map, context)
  return invalid("the request body must be a webhook of Alertmanager or Grafana; others need the option map")
}

/** Webhooks of Alertmanager and Grafana, and other JSON by a map (docs/rules.md#alerts). */
export const webhook: Kind = {
  ...OF_MANY_CHECKS,
  protocol: JSON_TEXT,
  translate: readWebhook,
  options: [...ALERT_OPTIONS, "map", "values"],
}
