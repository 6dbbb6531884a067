import { ValidationError } from "@tocsin/contract/Errors"
import {
  type IntegrationKind,
  type IntegrationOptions,
  isSeverityOfLabel,
  type ShownKind,
} from "@tocsin/contract/Integrations"
import { alertmanager } from "./prometheus.ts"
import { icinga } from "./icinga.ts"
import type { Kind } from "./Kind.ts"
import { nrdp } from "./nrdp.ts"
import { opsgenie } from "./opsgenie.ts"
import { pagerduty } from "./pagerduty.ts"
import { ping, push } from "./pings.ts"
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
}

/** Whether a check of this kind stays while something expects it. */
export const keepsExpected = (kind: ShownKind): boolean =>
  kind !== "watch" && KINDS[kind].keepsExpected === true

const COMMON: ReadonlyArray<string> = ["create", "max_checks", "incident"]

/** Why an integration cannot have these options; `undefined` if it can. */
export const optionProblem = (kind: ShownKind, options: IntegrationOptions): ValidationError | undefined => {
  const {
    isSeverity = isSeverityOfLabel,
    mostChecks = 0,
    options: own = [],
  }: Partial<Kind> = kind === "watch" ? {} : KINDS[kind]
  const isKnown = (name: string) => COMMON.includes(name) || own.some((each) => each === name)
  const foreign = Object.keys(options).find((name) => !isKnown(name))
  if (foreign !== undefined)
    return new ValidationError({ message: `options.${foreign} must be absent: ${kind} has no such option` })
  if (options.severity !== undefined && !isSeverity(options.severity))
    return new ValidationError({ message: `options.severity must have the form that ${kind} has` })
  if ((options.max_checks ?? 0) <= mostChecks) return undefined
  return new ValidationError({ message: `options.max_checks must be at most ${mostChecks} for ${kind}` })
}
