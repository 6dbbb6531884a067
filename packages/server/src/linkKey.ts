import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { LINK_KEY } from "@tocsin/adapter-crypto/HmacLinkTokens"
import { Effect, Redacted } from "effect"
import { keptSecret } from "./keptSecret.ts"
import type { Settings } from "./settings/Settings.ts"

const KEY_BYTES = 32

const drawn = Effect.sync(() => Redacted.make(randomBytes(KEY_BYTES).toString("hex")))

/**
 * The key of links that acknowledge: the configured one, or a generated one that is kept with the data. On
 * PostgreSQL there is none unless it is set, because all replicas need the same.
 */
export const linkKey = Effect.fnUntraced(function* (settings: Settings) {
  const { DATABASE_URL, SERVICE_DATA_DIR, SERVICE_LINK_KEY } = settings
  if (SERVICE_LINK_KEY !== undefined) return SERVICE_LINK_KEY
  if (DATABASE_URL !== undefined) return DATABASE_URL.kind === "postgres" ? undefined : yield* drawn
  const { secret } = yield* keptSecret({
    path: join(SERVICE_DATA_DIR, "link-key"),
    name: "link key",
    setting: "SERVICE_LINK_KEY",
    drawn: yield* drawn,
    isValid: (stored) => LINK_KEY.test(Redacted.value(stored)),
  })
  return secret
})
