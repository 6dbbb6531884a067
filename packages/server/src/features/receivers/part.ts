import { SECRETS_KEYS } from "@tocsin/adapter-crypto/AesSecretCipher"
import type { PlacedSettings } from "../../parts.ts"
import { matching, secret, setting, text } from "../../settings/settingTypes.ts"

/** The secrets of receivers (docs/rules.md#stored-secrets). */
export const settings = {
  SERVICE_LINK_KEY: {
    SERVICE_SECRETS_KEY: setting(
      secret(matching(SECRETS_KEYS, "64 hex digits, or two such keys separated by a comma")),
      "key of the stored secrets of receivers, the same on all replicas: openssl rand -hex 32; a second one after a comma only decrypts",
      {
        whenUnset:
          "generated and kept in SERVICE_DATA_DIR/secrets-key; with PostgreSQL, no secrets can be stored",
      },
    ),
  },
  SERVICE_POLICY_FILE: {
    SERVICE_SECRETS_DIR: setting(
      text("the path of a folder"),
      "folder of the only files that a stored policy may name (docs/policy.md#apply-a-policy)",
      { whenUnset: "none" },
    ),
  },
} satisfies PlacedSettings
