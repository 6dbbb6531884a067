import type { Generated } from "../openapi/requests.ts"
import { KEYS } from "../openapi/populatePools.ts"
import { READ_TOKEN, UI_TOKEN } from "../openapi/DocumentedServer.ts"

/** The bytes sent on one connection in latin1, one text for each write. */
export interface Input {
  readonly writes: ReadonlyArray<string>
  /** The request that these bytes are, if they are exactly one. */
  readonly request?: Generated
}

/** Keys and tokens, none of which may appear in an answer or the log. */
export const SECRETS: ReadonlyArray<string> = [UI_TOKEN, READ_TOKEN, ...Object.values(KEYS)]

const SECRET = new RegExp(`(\\nauthorization:[ \\t]*bearer[ \\t]+)?(?:${SECRETS.join("|")})`, "gi")

/** The same, and what stands for the key of an integration. */
const ANY_SECRET = new RegExp(`${SECRETS.join("|")}|in_[a-z-]{43}`, "gi")

/** Up to a body that may be any text: the output of a job. */
const BEFORE_OUTPUT = /^[^]*?\/in\/p[^]*?\r\n\r\n/

/**
 * A client that puts its key into a path, an ID or an output publishes it. Only what stands in its header field is
 * the server's secret, so a mutation that moves a key elsewhere spells it another way.
 */
export const withoutStraySecrets = (text: string): string => {
  const [heads] = BEFORE_OUTPUT.exec(text) ?? [text]
  return (
    heads.replaceAll(SECRET, (found, field?: string) => (field === undefined ? found.toUpperCase() : found)) +
    text.slice(heads.length).replaceAll(ANY_SECRET, (found) => found.toUpperCase())
  )
}

/** An address of its own for each input, so that none is limited for what another has done. */
export const addressOf = (index: number): string =>
  `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`

const latin1 = (body: string | Uint8Array): string => Buffer.from(body).toString("latin1")

/** The bytes of a generated request. */
export const inputOf = (request: Generated, index: number): Input => {
  const { method, target, headers, body } = request
  const fields = Object.entries({
    host: "fuzz",
    "x-forwarded-for": addressOf(index),
    ...headers,
    ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
  }).map(([name, value]) => `${name}: ${String(value)}\r\n`)
  const text = `${method} ${target} HTTP/1.1\r\n${fields.join("")}\r\n${latin1(body ?? "")}`
  return { writes: [text], request }
}
