import { isPushContact, isPushService } from "@tocsin/adapter-notify/push/pushAddresses"
import type { PlacedSettings } from "../../parts.ts"
import { type SettingType, setting } from "../../settings/settingTypes.ts"

/** Push services of browsers besides the known ones. */
const pushServices: SettingType<ReadonlyArray<string>> = {
  takes: "hosts, *.DOMAIN or origins such as https://push.example.org, separated by commas",
  parse: (given) => {
    const services = given.split(",").map((one) => one.trim().toLowerCase())
    return services.every(isPushService) ? services : undefined
  },
}

/** Whom push services may write to. */
const pushContact: SettingType<string> = {
  takes: "an address of mail or of a page, such as mailto:ops@example.org or https://example.org/contact",
  parse: (given) => (isPushContact(given) ? given : undefined),
}

/** The settings of browsers that get notifications (docs/rules.md#browsers). */
export const settings = {
  SERVICE_LOG_LEVEL: {
    SERVICE_PUSH_CONTACT: setting(
      pushContact,
      "whom push services of browsers may write to: mailto:ADDRESS, or an https:// address",
      { whenUnset: "SERVICE_PUBLIC_URL, if that begins with https://; else no browser gets notifications" },
    ),
    SERVICE_PUSH_SERVICES: setting(
      pushServices,
      "push services of browsers besides those of Google, Mozilla, Apple and Microsoft",
      { whenUnset: "none" },
    ),
  },
} satisfies PlacedSettings
