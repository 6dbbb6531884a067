import { MAIL_SENDER } from "@tocsin/contract/receivers/ReceiverTypes"
import type { MovedPolicy, Taken } from "./MovedPolicy.ts"

/** A text; names may be written as numbers. */
export const text = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value).trim() : ""

/** The name of a setting that a field needs, or the field's value; a field without one is left out. */
type Source = string | ((config: Taken) => string | ReadonlyArray<string> | undefined)

/** How a receiver of another program becomes one of a policy. */
interface MovedReceiver {
  /** Its kind and type. */
  readonly receiver: Taken
  /** Further fields in their order. The values of those that end with `_env` are secrets. */
  readonly fields: Readonly<Record<string, Source>>
  /** Settings that these need beyond the named ones, and others that they have. */
  readonly needs?: ReadonlyArray<string>
  readonly takes?: ReadonlyArray<string>
  /** Why there is none with such settings. */
  readonly refusalOf?: (config: Taken) => string | undefined
}

export type MovedReceivers = Readonly<Record<string, MovedReceiver>>

/** A receiver of a kind of service, of which the type is the only other constant. */
export const messenger = (
  type: string | undefined,
  fields: MovedReceiver["fields"],
  others: Partial<MovedReceiver> = {},
): MovedReceiver => ({ receiver: { kind: "messenger", ...(type && { type }) }, fields, ...others })

export const alertRouter = (
  type: string,
  fields: MovedReceiver["fields"],
  others: Partial<MovedReceiver> = {},
): MovedReceiver => ({ receiver: { kind: "alert_router", type }, fields, ...others })

/** Addresses of mail, separated by commas, without the names of people. */
export const addressesOfMail = (value: unknown): ReadonlyArray<string> =>
  text(value)
    .split(",")
    .flatMap((one) => MAIL_SENDER.exec(one.trim())?.groups?.["inner"] ?? (one.trim() || []))

/** An address of a mail server, in which user and password are percent-encoded. */
export const mailServer = (scheme: string, user: string, password: string | undefined, server: string) =>
  `${scheme}://${password === undefined ? "" : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`}${server}`

/** A receiver of the policy, with the names of settings that it does not have; a text says why there is none. */
export const moveReceiver = (
  moved: MovedPolicy,
  { fields, needs = [], receiver, refusalOf, takes = [] }: MovedReceiver,
  config: Taken,
  name: string,
): { readonly receiver: object; readonly left: ReadonlyArray<string> } | string => {
  const needed = [...needs, ...Object.values(fields).filter((source) => typeof source === "string")]
  const lacked = needed.find((setting) => text(config[setting]) === "")
  const refusal = lacked === undefined ? refusalOf?.(config) : `it has no ${lacked}`
  if (refusal !== undefined) return refusal
  const known = new Set([...needed, ...takes])
  const made = Object.entries(fields).flatMap(([field, source]): ReadonlyArray<[string, unknown]> => {
    const value = typeof source === "string" ? config[source] : source(config)
    if (value === undefined) return []
    const part = /(?<=^|_)([a-z]+)_env$/u.exec(field)?.[1]
    if (part !== undefined) return [[field, moved.secret(`${name}_${part}`, String(value)).env]]
    return [[field, typeof source === "string" ? text(value) : value]]
  })
  return {
    receiver: { ...receiver, ...Object.fromEntries(made) },
    left: Object.keys(config).filter((setting) => !known.has(setting)),
  }
}
