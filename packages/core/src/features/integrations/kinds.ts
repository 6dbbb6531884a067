import { ValidationError } from "@tocsin/contract/formats/Errors"
import {
  type IntegrationKind,
  type IntegrationOptions,
  isSeverityOfLabel,
  type ShownKind,
} from "@tocsin/contract/integrations/Integrations"
import { alertmanager } from "./prometheus.ts"
import { icinga } from "./icinga.ts"
import type { Kind } from "./Kind.ts"
import { mail } from "./mail/mailKind.ts"
import { monit } from "./monit.ts"
import { nrdp } from "./nrdp.ts"
import { opsgenie } from "./opsgenie.ts"
import { pagerduty } from "./pagerduty.ts"
import { ping, push } from "./pings.ts"
import { defaultRules } from "../../kernel/ports/RuleSettings.ts"
import { sentry } from "./sentry.ts"
import { webhook } from "./webhook.ts"

export const KINDS: Readonly<Record<IntegrationKind, Kind>> = {
  ping,
  push,
  alertmanager,
  webhook,
  nrdp,
  icinga,
  pagerduty,
  opsgenie,
  sentry,
  monit,
  mail,
}

/** Whether this version knows the kind of a stored row: a later one may have stored it. */
export const isKnownKind = (kind: ShownKind): boolean => kind === "watch" || Object.hasOwn(KINDS, kind)

/** Whether a check of this kind stays while something expects it; that of an unknown one always does. */
export const keepsExpected = (kind: ShownKind): boolean =>
  kind !== "watch" && (!isKnownKind(kind) || KINDS[kind].keepsExpected === true)

const COMMON: ReadonlyArray<string> = ["create", "max_checks", "incident", "numbers"]
const OF_ALL: ReadonlyArray<string> = ["max_checks"]

/** Why an integration cannot have these options; `undefined` if it can. */
export const optionProblem = (
  kind: ShownKind,
  options: IntegrationOptions,
  staleAfter = defaultRules.staleAfter,
): ValidationError | undefined => {
  const {
    hasOwnOptionsAlone = false,
    problemOf,
    isSeverity = isSeverityOfLabel,
    mostChecks = 0,
    options: own = [],
  }: Partial<Kind> = kind === "watch" ? {} : KINDS[kind]
  const isKnown = (name: string) =>
    (hasOwnOptionsAlone ? OF_ALL : COMMON).includes(name) || own.some((each) => each === name)
  const foreign = Object.keys(options).find((name) => !isKnown(name))
  if (foreign !== undefined)
    return new ValidationError({ message: `options.${foreign} must be absent: ${kind} has no such option` })
  if (options.severity !== undefined && !isSeverity(options.severity))
    return new ValidationError({ message: `options.severity must have the form that ${kind} has` })
  const message = problemOf?.(options, staleAfter)
  if (message !== undefined) return new ValidationError({ message })
  if ((options.max_checks ?? 0) <= mostChecks) return undefined
  return new ValidationError({ message: `options.max_checks must be at most ${mostChecks} for ${kind}` })
}
