import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Effect } from "effect"
import type { Settings } from "../../settings/Settings.ts"
import { publicUrlIn } from "../settings/publicUrlIn.ts"

/** Why messages to receivers with `acknowledge` have no link that acknowledges (docs/rules.md#links). */
export const linkAdvice = (
  { DATABASE_URL, SERVICE_LINK_KEY, ...settings }: Settings,
  { receivers = {} }: PolicyDocument,
): string | undefined => {
  const names = Object.entries(receivers).flatMap(([name, { acknowledge }]) =>
    acknowledge === undefined ? [] : [name],
  )
  // A server with another storage makes a key.
  const hasKey = SERVICE_LINK_KEY !== undefined || DATABASE_URL?.kind !== "postgres"
  const lacking = [
    ...(publicUrlIn(settings) === undefined
      ? ["SERVICE_PUBLIC_URL (or the public address in Settings)"]
      : []),
    ...(hasKey ? [] : ["SERVICE_LINK_KEY, the same on every server (openssl rand -hex 32)"]),
  ]
  const message = `messages to ${names.join(", ")} have no link that acknowledges: set ${lacking.join(" and ")}`
  return names.length === 0 || lacking.length === 0 ? undefined : message
}

/** Warns once, at the start: messages go out all the same. */
export const warnOfLinks = (settings: Settings) =>
  Effect.flatMap(PolicyInForce, (inForce) => {
    const message = linkAdvice(settings, inForce.current().document)
    return message === undefined ? Effect.void : Effect.logWarning(message)
  })
