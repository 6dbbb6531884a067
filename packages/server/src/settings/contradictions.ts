import { NotifierKind } from "@tocsin/core/contract/Status"
import { Duration } from "effect"
import type { SettingProblem } from "./Setting.ts"
import type { Settings } from "./Settings.ts"

type Values = Partial<Settings>

/** Settings that do not go together. */
interface Contradiction {
  /** The one to be changed, which the message begins with, and those that it contradicts. */
  readonly names: readonly [keyof Settings, ...ReadonlyArray<keyof Settings>]
  readonly message: string
  readonly holds: boolean
}

const all = (values: Values): ReadonlyArray<Contradiction> => {
  const has = (name: keyof Settings) => values[name] !== undefined
  const { SERVICE_DEAD_AFTER: deadAfter, SERVICE_STALE_AFTER: staleAfter } = values
  return [
    {
      names: ["SERVICE_AUTH_TOKEN", "DATABASE_URL"],
      message:
        "SERVICE_AUTH_TOKEN is not set, but PostgreSQL requires it: generate a token with openssl rand -base64 32",
      holds: values.DATABASE_URL?.kind === "postgres" && !has("SERVICE_AUTH_TOKEN"),
    },
    {
      names: ["SERVICE_DEAD_AFTER", "SERVICE_STALE_AFTER"],
      message: "SERVICE_DEAD_AFTER must be longer than SERVICE_STALE_AFTER",
      holds:
        deadAfter !== undefined && staleAfter !== undefined && !Duration.isGreaterThan(deadAfter, staleAfter),
    },
    {
      names: ["SERVICE_WEBHOOK_SECRET", "SERVICE_WEBHOOK_URL"],
      message: "SERVICE_WEBHOOK_SECRET and SERVICE_WEBHOOK_URL must be set together",
      holds: has("SERVICE_WEBHOOK_URL") !== has("SERVICE_WEBHOOK_SECRET"),
    },
    {
      names: ["SERVICE_TELEGRAM_CHAT", "SERVICE_TELEGRAM_TOKEN"],
      message: "SERVICE_TELEGRAM_CHAT and SERVICE_TELEGRAM_TOKEN must be set together",
      holds: has("SERVICE_TELEGRAM_TOKEN") !== has("SERVICE_TELEGRAM_CHAT"),
    },
    {
      names: ["SERVICE_MESSENGER_URL", "SERVICE_TELEGRAM_TOKEN"],
      message: "SERVICE_MESSENGER_URL and SERVICE_TELEGRAM_TOKEN are both set; choose one messenger",
      holds: has("SERVICE_MESSENGER_URL") && has("SERVICE_TELEGRAM_TOKEN"),
    },
    ...(values.SERVICE_NOTIFIERS ?? []).map((kind): Contradiction => ({
      names: ["SERVICE_NOTIFIERS", ...ADDRESSES[kind]],
      message: `SERVICE_NOTIFIERS names ${kind}, which has no address: set ${ADDRESSES[kind].join(" or ")}, or leave it out`,
      holds: !configuredKinds(values).has(kind),
    })),
  ]
}

/** Settings that do not go together, each told as a problem of the one to be changed; what is bad by itself is left out. */
export const contradictions = (
  values: Values,
  bad: ReadonlyArray<SettingProblem>,
): ReadonlyArray<SettingProblem> => {
  const isBad = new Set(bad.map(({ name }) => name))
  return all(values)
    .filter(({ names, holds }) => holds && !names.some((name) => isBad.has(name)))
    .map(({ names: [name], message }) => ({ name, message }))
}

/** Which settings say where a notifier sends: one of them is enough. */
const ADDRESSES = {
  debug: [],
  webhook: ["SERVICE_WEBHOOK_URL"],
  messenger: ["SERVICE_MESSENGER_URL", "SERVICE_TELEGRAM_TOKEN"],
  alert_router: ["SERVICE_ALERT_ROUTER_URL"],
} as const satisfies Record<NotifierKind, ReadonlyArray<keyof Settings>>

/** The notifiers that there are settings for; `debug` needs none. */
export const configuredKinds = (values: Values): ReadonlySet<NotifierKind> =>
  new Set(
    NotifierKind.literals.filter((kind) => {
      const addresses = ADDRESSES[kind]
      return addresses.length === 0 || addresses.some((name) => values[name] !== undefined)
    }),
  )
