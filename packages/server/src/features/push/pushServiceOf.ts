import { contactOf } from "@tocsin/adapter-notify/push/pushAddresses"
import { pushService } from "@tocsin/adapter-notify/push/pushService"
import type { Settings } from "../../settings/Settings.ts"
import { publicUrlIn } from "../settings/publicUrlIn.ts"

/** The push services of browsers by the settings (docs/rules.md#browsers). */
export const pushServiceOf = ({
  SERVICE_DENY_PRIVATE_TARGETS: denyPrivateTargets,
  SERVICE_PUSH_CONTACT: given,
  SERVICE_PUSH_SERVICES: services = [],
  SERVICE_WATCH_LOOPBACK: mayReachLoopback = false,
  ...settings
}: Settings) =>
  pushService({
    contact: () => contactOf(given, publicUrlIn(settings)),
    denyPrivateTargets,
    mayReachLoopback,
    services,
  })
