import type { NotifierKind } from "@tocsin/core/contract/Status"
import { Duration } from "effect"
import type { SettingProblem } from "./Setting.ts"
import type { Settings } from "./Settings.ts"

/** Settings that do not go together, each told as a problem of the one to be changed. */
export const contradictions = (settings: Settings): ReadonlyArray<SettingProblem> => {
  const told = (name: keyof Settings, message: string) => ({ name, message: `${name} ${message}` })
  const has = (name: keyof Settings) => settings[name] !== undefined
  const found: Array<SettingProblem> = []
  if (settings.DATABASE_URL?.kind === "postgres" && !has("SERVICE_AUTH_TOKEN")) {
    found.push(
      told(
        "SERVICE_AUTH_TOKEN",
        `is not set, but must be with PostgreSQL: tokens separated by spaces or commas`,
      ),
    )
  }
  if (!Duration.isGreaterThan(settings.SERVICE_DEAD_AFTER, settings.SERVICE_STALE_AFTER)) {
    found.push(told("SERVICE_DEAD_AFTER", "must be longer than SERVICE_STALE_AFTER"))
  }
  if (has("SERVICE_WEBHOOK_URL") !== has("SERVICE_WEBHOOK_SECRET")) {
    found.push(told("SERVICE_WEBHOOK_SECRET", "and SERVICE_WEBHOOK_URL must be set together"))
  }
  if (has("SERVICE_TELEGRAM_TOKEN") !== has("SERVICE_TELEGRAM_CHAT")) {
    found.push(told("SERVICE_TELEGRAM_CHAT", "and SERVICE_TELEGRAM_TOKEN must be set together"))
  }
  if (has("SERVICE_MESSENGER_URL") && has("SERVICE_TELEGRAM_TOKEN")) {
    found.push(told("SERVICE_MESSENGER_URL", "and SERVICE_TELEGRAM_TOKEN are both set; choose one messenger"))
  }
  for (const kind of settings.SERVICE_NOTIFIERS ?? []) {
    if (!configuredKinds(settings).has(kind)) {
      found.push(told("SERVICE_NOTIFIERS", `names ${kind}, whose address is not set`))
    }
  }
  return found
}

/** The notifiers that there are settings for; `debug` needs none. */
export const configuredKinds = (settings: Settings): ReadonlySet<NotifierKind> =>
  new Set<NotifierKind>([
    "debug",
    ...(settings.SERVICE_WEBHOOK_URL === undefined ? [] : (["webhook"] as const)),
    ...(settings.SERVICE_MESSENGER_URL === undefined && settings.SERVICE_TELEGRAM_TOKEN === undefined
      ? []
      : (["messenger"] as const)),
    ...(settings.SERVICE_ALERT_ROUTER_URL === undefined ? [] : (["alert_router"] as const)),
  ])
