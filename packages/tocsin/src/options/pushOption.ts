import { contactOf, isPushContact, isPushService } from "@tocsin/adapter-notify/push/pushAddresses"
import { pushService } from "@tocsin/adapter-notify/push/pushService"
import { checked, group } from "@tocsin/client/options/readers"
import type { PushOption } from "./MonitorOptions.ts"

const isTextWith = (holds: (text: string) => boolean) => (given: unknown) =>
  typeof given === "string" && holds(given)

/** Reads the option `push` (docs/rules.md#browsers). */
export const push = group<PushOption>()({
  contact: checked<string>(isTextWith(isPushContact), "mailto:ADDRESS, or an https:// address"),
  services: checked<ReadonlyArray<string>>(
    (given) => Array.isArray(given) && given.every(isTextWith(isPushService)),
    "hosts, *.DOMAIN or origins such as https://push.example.org",
  ),
})

/** The push services by the option; the program names those besides the known ones, so they may be on its own machine. */
export const pushOf = (
  { contact, services = [] }: PushOption,
  denyPrivateTargets: boolean,
  publicUrl: () => string | undefined,
) =>
  pushService({
    contact: () => contactOf(contact, publicUrl()),
    denyPrivateTargets,
    mayReachLoopback: true,
    services,
  })
