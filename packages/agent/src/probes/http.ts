import type { IncomingMessage, RequestOptions } from "node:http"
import type { PeerCertificate, TLSSocket } from "node:tls"
import { afterMillis } from "../clock/Clock.ts"
import { fileAt } from "../config/PemFile.ts"
import {
  anyText,
  checked,
  flag,
  integer,
  mapOf,
  oneOf,
  type Place,
  type Reader,
  record,
  text,
} from "../config/Reader.ts"
import { daysLeft } from "./certificate.ts"
import { explainError } from "../sending/explainError.ts"
import type { Fault, Measure } from "./Finding.ts"
import { connecting, type Probe, type ProbeAround, secondsText, type SettingsOf, timed } from "./Probe.ts"
import { oneOrMore, pattern, thresholdFields, thresholds, wait, WAIT_MILLIS } from "./probeReaders.ts"
import { searchTexts, tooSlow } from "./searchTexts.ts"
import { critical } from "./tcp.ts"
import { judgeTrust, trustFields, trusting } from "./trust.ts"

const address: Reader<string> = (value, place) => {
  if (
    typeof value === "string" &&
    URL.canParse(value) &&
    ["http:", "https:"].includes(new URL(value).protocol)
  )
    return value
  place.refuse("must be an address such as https://shop.example/health", place.path)
  return undefined
}

const HEADER_NAME = { form: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, expected: "letters, digits and -" }

const fields = record(
  {
    url: address,
    socket: fileAt,
    method: oneOf("GET", "HEAD", "POST"),
    body: anyText,
    status: oneOrMore(integer({ min: 100, max: 599 }), 100),
    text: text({ max: 4_096 }),
    pattern,
    redirects: integer({ min: 0, max: 20 }),
    headers: mapOf(text({ max: 4_096 }), { max: 50, ...HEADER_NAME }),
    verify: flag,
    days: thresholds,
    wait,
    ...trustFields,
    ...thresholdFields,
  },
  ["url"],
)

const judgeRequest = (settings: SettingsOf<typeof fields>, place: Place): void => {
  judgeTrust(settings, place)
  if (settings.body !== undefined && settings.method !== "POST")
    place.refuse("needs method: POST", [...place.path, "body"])
}

const reader = checked(fields, judgeRequest)

type HttpSettings = SettingsOf<typeof reader>

const DEFAULT_REDIRECTS = 5
/** Bytes of a body in which a text is looked for: one MiB. */
const LONGEST_BODY = 1_048_576

/** Asks for a page and examines its status, body, time and certificate; thresholds are seconds. */
export const http: Probe<HttpSettings> = {
  title: "HTTP",
  lane: "network",
  reader,
  run: async (settings, { clock, signal, targets }) => {
    const { url = "", days, warning, critical: crit } = settings
    const millis = settings.wait ?? WAIT_MILLIS
    const shown = withoutSecrets(url)
    // One limit for all redirects together.
    const limit = new AbortController()
    const cancelLimit = afterMillis(clock, millis, () => limit.abort())
    const ended = AbortSignal.any([signal, limit.signal])
    try {
      const { value: page, seconds } = await timed(clock, () =>
        pageAt(url, settings, { signal: ended, targets }),
      )
      const found = settings.text === undefined ? "" : `, with ${quoted(settings.text)}`
      const words = `${page.status} ${shown} in ${secondsText(seconds)}${found}`
      const limits = { warning, critical: crit }
      const measures: Array<Measure> = [
        { label: "time", value: seconds, unit: "s", thresholds: limits, words },
        { label: "size", value: page.bytes, unit: "B", words },
      ]
      const { certificate } = page
      if (certificate !== undefined) measures.push(daysLeft(certificate, clock.wall(), days ?? {}))
      return { words, measures, faults: faultsOf(page, shown, settings) }
    } catch (error) {
      const isLate = ended.aborted && !signal.aborted
      return critical(`${shown}: ${isLate ? `no answer within ${millis / 1_000} s` : explainError(error)}`)
    } finally {
      cancelLimit()
    }
  },
}

const SHOWN_TEXT = 200

/** The beginning of a text, in quotes. */
const quoted = (whole: string): string =>
  JSON.stringify(whole.length > SHOWN_TEXT ? `${whole.slice(0, SHOWN_TEXT).toWellFormed()}…` : whole)

/** An address as results show it: credentials and queries may be secrets. */
const withoutSecrets = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

const faultsOf = (page: Page, url: string, settings: HttpSettings): ReadonlyArray<Fault> => {
  const { status, text: wanted, pattern: written, redirects } = settings
  const highest = redirects === 0 ? 399 : 299
  const isWanted =
    status === undefined ? page.status >= 200 && page.status <= highest : status.includes(page.status)
  const part = page.bytes > LONGEST_BODY ? " in its first MiB" : ""
  const where = page.encoding === "identity" ? part : ` in its compressed form (${page.encoding})`
  const faults: Array<string> = []
  if (!isWanted) faults.push(`${page.status} ${url}`)
  if (wanted !== undefined && !page.body.includes(wanted))
    faults.push(`${url} lacks ${quoted(wanted)}${where}`)
  const found = written === undefined ? [true] : searchTexts(written, [page.body])
  if (found?.[0] === false) faults.push(`${url} does not match /${written}/${where}`)
  return [
    ...faults.map((words): Fault => ({ status: "critical", words })),
    ...(found === undefined ? [{ status: "unknown", words: tooSlow(written ?? "") } as const] : []),
  ]
}

interface Page {
  readonly status: number
  readonly body: string
  readonly bytes: number
  /** Other than `identity` where the server compresses although it was asked not to. */
  readonly encoding: string
  /** Of the last server. */
  readonly certificate: PeerCertificate | undefined
}

const SENT_AGAIN: ReadonlySet<number> = new Set([307, 308])

const pageAt = async (
  first: string,
  settings: HttpSettings,
  { signal, targets }: Omit<ProbeAround, "clock">,
): Promise<Page> => {
  const most = settings.redirects ?? DEFAULT_REDIRECTS
  const origin = new URL(first).origin
  const trust = await trusting(settings)
  let url = new URL(first)
  // A redirect is followed by GET, unless it asks to send the same again (RFC 9110, 15.4).
  let { method = "GET", body } = settings
  for (let followed = 0; ; followed++) {
    // IPv6 without its brackets.
    const reached = connecting(url.hostname.replace(/^\[(.*)\]$/, "$1"), targets)
    const { response, certificate } = await ask(
      url,
      {
        ...optionsOf(url, origin, { ...settings, method }, signal),
        ...reached,
        ...trust,
      },
      body,
    )
    const { statusCode: status = 0, headers } = response
    const next = status >= 300 && status <= 399 ? headers.location : undefined
    if (next === undefined || most === 0 || settings.status?.includes(status)) {
      const encoding = headers["content-encoding"] ?? "identity"
      const page = { status, encoding, certificate, ...(await bodyOf(response, targets !== undefined)) }
      // A page that ends with its connection looks whole where the limit closed the connection.
      signal.throwIfAborted()
      return page
    }
    response.destroy()
    if (followed >= most) throw new Error(`more than ${most} redirects`)
    url = new URL(next, url)
    if (method === "POST" && !SENT_AGAIN.has(status)) [method, body] = ["GET", undefined]
    // The body may be a secret, like a header field.
    if (body !== undefined && url.origin !== origin)
      throw new Error(`redirected with its body to ${url.origin}`)
    // The first address of a watch has no user either.
    if (targets !== undefined && url.username + url.password !== "")
      throw new Error("redirected to an address with a user")
  }
}

const optionsOf = (
  url: URL,
  origin: string,
  { headers, method = "GET", socket, verify = true }: HttpSettings,
  signal: AbortSignal,
): RequestOptions & { readonly rejectUnauthorized: boolean } => ({
  method,
  agent: false,
  signal,
  ...(url.origin === origin && socket !== undefined && { socketPath: socket }),
  rejectUnauthorized: verify,
  // A header field may be a secret, which another server must not see.
  headers: {
    "user-agent": "tocsin-agent",
    accept: "*/*",
    // Without it a server may compress the page, in which no text would be found (RFC 9110, 12.5.3).
    "accept-encoding": "identity",
    ...(url.origin === origin && Object.fromEntries(headers ?? [])),
  },
})

interface Asked {
  readonly response: IncomingMessage
  readonly certificate: PeerCertificate | undefined
}

const ask = async (url: URL, options: RequestOptions, body?: string): Promise<Asked> => {
  if (!["http:", "https:"].includes(url.protocol)) throw new Error(`redirected to ${url.protocol}`)
  const isSecure = url.protocol === "https:"
  // Loaded only where it is used: TLS takes some megabytes.
  const { request } = isSecure ? await import("node:https") : await import("node:http")
  return await new Promise((resolve, reject) => {
    const sent = request(url, options)
    sent.on("error", reject)
    // After an answer that switches protocols, Node reports neither an answer nor an error.
    sent.on("close", () => reject(new Error("the connection was closed without an answer")))
    sent.on("response", (response) => {
      // The socket of an https request is one of TLS.
      const certificate = isSecure ? (response.socket as TLSSocket).getPeerCertificate() : undefined
      resolve({ response, certificate })
    })
    sent.end(body)
  })
}

const bodyOf = async (
  response: IncomingMessage,
  isCut: boolean,
): Promise<{ readonly body: string; readonly bytes: number }> => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of response) {
    // A stream of bytes without an encoding yields buffers.
    const part = chunk as Buffer
    if (bytes < LONGEST_BODY) chunks.push(part)
    bytes += part.length
    if (isCut && bytes > LONGEST_BODY) break
  }
  return { body: Buffer.concat(chunks).toString("utf8", 0, LONGEST_BODY), bytes }
}
