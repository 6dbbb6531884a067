import type { Role } from "@tocsin/contract/operators/Operators"
import { Option, Schema } from "effect"
import type { PlacedSettings } from "../../parts.ts"
import * as type from "../../settings/settingTypes.ts"

const { setting } = type

const NO_SIGN_IN = { whenUnset: "operators have tokens alone" }

const textsInJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Array(Schema.String)))

/** Texts that may contain spaces and, as JSON, commas: the name of a group may be its DN. */
const texts: type.SettingType<ReadonlyArray<string>> = {
  takes: 'texts, separated by commas, or a JSON list such as ["cn=ops,dc=example,dc=org"]',
  parse: (given) => {
    const isJson = given.startsWith("[")
    const all = isJson ? Option.getOrElse(textsInJson(given), () => []) : given.split(",")
    const found = all.map((one) => one.trim()).filter((one) => one !== "")
    return found.length > 0 ? found : undefined
  },
}

/** An issuer of OpenID Connect, exactly as it names itself. */
const issuer: type.SettingType<string> = {
  takes: "a URL that begins with https:// (http:// only for localhost), without query or fragment",
  parse: (given) =>
    type.isSecureAddress(given) && URL.canParse(given) && !/[?#@\s]/.test(given) ? given : undefined,
}

const scopes = type.matching(
  /^(?=(?:.* )?openid(?: |$))[\x21-\x7e]+(?: [\x21-\x7e]+)*$/,
  "scopes, separated by spaces, with openid",
)

const requiredClaim: type.SettingType<{ readonly claim: string; readonly value: string }> = {
  takes: "a claim and its value, such as hd=example.org",
  parse: (given) => {
    const [, claim, value] = /^([^=]+)=(.+)$/s.exec(given) ?? []
    return claim === undefined || value === undefined
      ? undefined
      : { claim: claim.trim(), value: value.trim() }
  },
}

const values = (role: Role) =>
  setting(
    texts,
    `values of the claim that give the role ${role}, separated by commas or as a JSON list; * for everyone`,
    { whenUnset: "none" },
  )

/** Sign-in by OpenID Connect (docs/sign-in.md). */
export const settings = {
  SERVICE_PUSH_SERVICES: {
    SERVICE_OIDC_ISSUER: setting(issuer, "issuer by which people sign in (docs/sign-in.md)", NO_SIGN_IN),
    SERVICE_OIDC_CLIENT_ID: setting(type.text("any text"), "client of the issuer for Tocsin", NO_SIGN_IN),
    SERVICE_OIDC_CLIENT_SECRET: setting(type.secretText, "secret of that client", NO_SIGN_IN),
    SERVICE_OIDC_NAME: setting(type.text("any text"), "name of the issuer on the button that signs in", {
      whenUnset: "the host of SERVICE_OIDC_ISSUER",
    }),
    SERVICE_OIDC_SCOPES: setting(scopes, "scopes to ask for, separated by spaces", {
      fallback: "openid profile email",
    }),
    SERVICE_OIDC_CLAIM: setting(
      type.text("any text"),
      "claim that gives people roles: a name or a JSON Pointer",
      {
        fallback: "groups",
      },
    ),
    SERVICE_OIDC_ADMIN: values("admin"),
    SERVICE_OIDC_RESPOND: values("respond"),
    SERVICE_OIDC_READ: values("read"),
    SERVICE_OIDC_REQUIRE: setting(requiredClaim, "claim and value that everyone who signs in must have", {
      whenUnset: "none; required where * gives a role",
    }),
    SERVICE_OIDC_SESSION: setting(type.threshold, "how long a session lasts", { fallback: "8h" }),
  },
} satisfies PlacedSettings
