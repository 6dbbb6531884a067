import { Redacted } from "effect"
import type { HttpOptions } from "../http/HttpApp.ts"
import type { MonitorOptions } from "./MonitorOptions.ts"
import type { Problems } from "./Problems.ts"

const TOKEN = /^[\x21-\x7e]{1,512}$/

/** What `tocsin_build_info` tells instead of a server's version: the host knows which one it installed. */
const VERSION = "embedded"

/** Who may read the metrics; nothing where there are none. */
export const metricsOf = (metrics: MonitorOptions["metrics"], problems: Problems): HttpOptions["metrics"] => {
  if (metrics === undefined || metrics === false) return undefined
  if (metrics === true) return { access: { tokens: [] }, version: VERSION }
  if (metrics === "open") return { access: "open", version: VERSION }
  problems.unknown("metrics.", metrics, ["token"])
  const token: unknown = Object(metrics).token
  if (typeof token === "string" && TOKEN.test(token)) {
    return { access: { tokens: [Redacted.make(token)] }, version: VERSION }
  }
  problems.add(
    'metrics must be true, false, "open" or { token }, a token of 1 to 512 visible ASCII characters',
  )
  return undefined
}
