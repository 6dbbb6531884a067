import { parseTarget } from "@tocsin/adapter-notify/http/Target"
import { Result } from "effect"
import type { SettingProblem } from "./Setting.ts"
import type { Settings } from "./Settings.ts"

const ADDRESSES = [
  "SERVICE_WEBHOOK_URL",
  "SERVICE_ALERT_ROUTER_URL",
  "SERVICE_MESSENGER_URL",
  "SERVICE_BEAT_URL",
] as const

/** Addresses that notifiers and beats must not call, or cannot use (docs/rules.md#targets). */
export const refusedTargets = (values: Partial<Settings>): ReadonlyArray<SettingProblem> => {
  const policy = { denyPrivateTargets: values.SERVICE_DENY_PRIVATE_TARGETS ?? false }
  return ADDRESSES.flatMap((name) => {
    const address = values[name]
    const target = address && parseTarget(address, policy)
    if (target === undefined || Result.isSuccess(target)) return []
    return [{ name, message: `${name} ${target.failure}` }]
  })
}
