import { pushService } from "@tocsin/adapter-notify/push/pushService"
import type { Settings } from "../../settings/Settings.ts"

/** The push services of browsers by the settings (docs/rules.md#browsers). */
export const pushServiceOf = ({
  SERVICE_DENY_PRIVATE_TARGETS: denyPrivateTargets,
  SERVICE_PUBLIC_URL: publicUrl,
  SERVICE_PUSH_CONTACT: given,
  SERVICE_PUSH_SERVICES: services = [],
  SERVICE_WATCH_LOOPBACK: mayReachLoopback,
}: Settings) =>
  pushService({
    contact: given ?? (publicUrl?.startsWith("https:") ? publicUrl : undefined),
    denyPrivateTargets,
    mayReachLoopback,
    services,
  })
