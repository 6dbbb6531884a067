import { ValidationError } from "@tocsin/contract/Errors"
import type { IntegrationKind, IntegrationOptions, ShownKind } from "@tocsin/contract/Integrations"
import { ping, push } from "./pings.ts"
import { type Kind, NOT_FOUND, type Translate } from "./Report.ts"
import { webhook } from "./webhook.ts"
import { ALERT_OPTIONS, readAlerts, readJsonBody } from "./alerts.ts"

const PATH = "api/v2/alerts"

const translate: Translate = ({ body, path }, context) => {
  if (path.join("/") !== PATH) return NOT_FOUND
  const read = readJsonBody(body)
  if ("refused" in read) return read
  if (!Array.isArray(read.json))
    return { refused: "invalid", message: "the request body must be a list of alerts" }
  return readAlerts(read.json, context, {
    isFiring: ({ ends_at }, now) => ends_at === undefined || ends_at > now,
    repeats: context.options.repeats ?? true,
  })
}

/** Alertmanager's API, version 2, to which Prometheus and others post (docs/rules.md#alerts). */
export const alertmanager: Kind = {
  translate,
  isLimited: false,
  hasRuns: false,
  mostChecks: 10_000,
  options: [...ALERT_OPTIONS, "resend", "lapse", "repeats", "watchdog"],
  paths: (key) => ["", `/${key}`],
}

export const KINDS: Readonly<Record<IntegrationKind, Kind>> = { ping, push, alertmanager, webhook }

const COMMON: ReadonlyArray<string> = ["create", "max_checks"]

/** Why an integration cannot have these options; `undefined` if it can. */
export const optionProblem = (kind: ShownKind, options: IntegrationOptions): ValidationError | undefined => {
  const { mostChecks = 0, options: own = [] } = kind === "watch" ? {} : KINDS[kind]
  const isKnown = (name: string) => COMMON.includes(name) || own.some((each) => each === name)
  const foreign = Object.keys(options).find((name) => !isKnown(name))
  if (foreign !== undefined)
    return new ValidationError({ message: `options.${foreign} must be absent: ${kind} has no such option` })
  if ((options.max_checks ?? 0) <= mostChecks) return undefined
  return new ValidationError({ message: `options.max_checks must be at most ${mostChecks} for ${kind}` })
}
