import type { Settings } from "../../settings/Settings.ts"
import { isSecureAddress } from "../../settings/settingTypes.ts"

const OF_ROLES = ["SERVICE_OIDC_ADMIN", "SERVICE_OIDC_RESPOND", "SERVICE_OIDC_READ"] as const
const OF_CLIENT = ["SERVICE_OIDC_CLIENT_ID", "SERVICE_OIDC_CLIENT_SECRET"] as const
const NEED_ISSUER = [...OF_CLIENT, "SERVICE_OIDC_REQUIRE", ...OF_ROLES] as const

/** Conflicts between the settings of sign-in, and settings that are missing. */
export const signInConflicts = (given: Partial<Settings>) => {
  const { SERVICE_OIDC_ISSUER: issuer, SERVICE_PUBLIC_URL: publicUrl } = given
  const has = (name: keyof Settings) => given[name] !== undefined
  if (issuer === undefined)
    return NEED_ISSUER.filter(has).map((name) => ({
      names: [name, "SERVICE_OIDC_ISSUER"] as const,
      message: `${name} needs SERVICE_OIDC_ISSUER: set both, or unset it`,
      holds: true,
    }))
  return [
    ...OF_CLIENT.map((name) => ({
      names: [name, "SERVICE_OIDC_ISSUER"] as const,
      message: `${name} is not set, but SERVICE_OIDC_ISSUER needs it: make a client for Tocsin there`,
      holds: !has(name),
    })),
    {
      names: ["SERVICE_PUBLIC_URL", "SERVICE_OIDC_ISSUER"] as const,
      message:
        "SERVICE_PUBLIC_URL must begin with https:// (or http://localhost) for SERVICE_OIDC_ISSUER, which returns people there",
      holds: publicUrl === undefined || !isSecureAddress(publicUrl),
    },
    {
      names: ["SERVICE_OIDC_READ", ...OF_ROLES] as const,
      message:
        "SERVICE_OIDC_ISSUER gives people no role: set SERVICE_OIDC_READ, SERVICE_OIDC_RESPOND or SERVICE_OIDC_ADMIN",
      holds: !OF_ROLES.some(has),
    },
    {
      names: ["SERVICE_OIDC_REQUIRE", ...OF_ROLES] as const,
      message:
        "SERVICE_OIDC_REQUIRE is not set, but * gives a role to everyone: set it to a claim and a value, such as hd=example.org",
      holds: !has("SERVICE_OIDC_REQUIRE") && OF_ROLES.some((name) => given[name]?.includes("*") === true),
    },
  ]
}
