import { LINK_KEY } from "@tocsin/adapter-crypto/HmacLinkSigner"
import type { PlacedSettings } from "../../parts.ts"
import { matching, secret, setting } from "../../settings/settingTypes.ts"

/** Links in messages that acknowledge (docs/rules.md#links). */
export const settings = {
  SERVICE_KEY_PEPPER: {
    SERVICE_LINK_KEY: setting(
      secret(matching(LINK_KEY, "64 hex digits")),
      "key of the links that acknowledge, the same on all replicas: openssl rand -hex 32",
      {
        whenUnset:
          "generated and kept in SERVICE_DATA_DIR/link-key; with PostgreSQL, messages have no such links",
      },
    ),
  },
} satisfies PlacedSettings
