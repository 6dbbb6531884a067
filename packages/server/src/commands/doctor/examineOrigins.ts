import type { Settings } from "../../settings/Settings.ts"
import { attention, type Findings, ok } from "./Finding.ts"

const CHECK = "browsers"
const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

/** Which pages may call from browsers, where any may. */
export const examineOrigins = ({ SERVICE_ALLOWED_ORIGINS: origins }: Partial<Settings>): Findings => {
  if (origins === undefined) return []
  if (origins === "*") {
    return [
      attention(
        CHECK,
        "pages of every origin may call the API: list the origins you trust in SERVICE_ALLOWED_ORIGINS",
      ),
    ]
  }
  const plain = origins.filter((origin) => origin.startsWith("http://") && !LOOPBACK.test(origin))
  return plain.length === 0
    ? [ok(CHECK, `pages of ${origins.join(", ")} may call`)]
    : [
        attention(
          CHECK,
          `pages of ${plain.join(", ")} come unencrypted, which exposes the token they use: serve them over https`,
        ),
      ]
}
