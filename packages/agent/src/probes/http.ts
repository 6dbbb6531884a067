import { hostField, originOf } from "@tocsin/contract/hosts"
import { connectingBy } from "@tocsin/contract/openConnection"
import type { IncomingMessage, RequestOptions } from "node:http"
import type { TLSSocket } from "node:tls"
import { fileAt } from "../config/PemFile.ts"
import {
  anyText,
  checked,
  flag,
  integer,
  mapOf,
  oneOf,
  oneOrMore,
  type ReadBy,
  type Reader,
  record,
  refused,
  text,
} from "../config/Reader.ts"
import { systemClock } from "../clock/Clock.ts"
import { explainError } from "../sending/explainError.ts"
import {
  connected,
  critical,
  type Fault,
  limited,
  probe,
  type ProbeAround,
  secondsText,
  timed,
  wait,
  WAIT_MILLIS,
} from "./Probe.ts"
import { leftFields, thresholdFields } from "./Range.ts"
import { pattern, searchTexts, tooSlow } from "./searchTexts.ts"
import { daysLeft, shownCertificate } from "./certificate.ts"
import { judgeTrust, type Trust, trustFields, trusting } from "./trust.ts"

const address: Reader<string> = (value, place) => {
  const url = typeof value === "string" ? URL.parse(value) : null
  if (typeof value !== "string" || url === null || !["http:", "https:"].includes(url.protocol))
    return refused(place, "must be an address such as https://shop.example/health")
  try {
    decodeURIComponent(url.username + url.password)
    return value
  } catch {
    return refused(place, "must have a percent-encoded user name and password: write % as %25")
  }
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
    days: record(leftFields),
    wait,
    ...trustFields,
    ...thresholdFields,
  },
  ["url"],
)

const reader = checked(fields, (settings, place) => {
  judgeTrust(settings, place)
  if (settings.body !== undefined && settings.method !== "POST")
    place.refuse("needs method: POST", [...place.path, "body"])
})

type HttpSettings = ReadBy<typeof reader>

const DEFAULT_REDIRECTS = 5
/** Bytes of a body in which a text is looked for: one MiB. */
const LONGEST_BODY = 1_048_576

/** Asks for a page and examines its status, body, time and certificate; thresholds are seconds. */
export const http = probe({ name: "http", lane: "network" }, reader, async (settings, around) => {
  const { url, days = {}, warning, critical: crit, wait: millis = WAIT_MILLIS } = settings
  // Credentials and queries may be secrets.
  const { origin, pathname } = new URL(url)
  const shown = origin + pathname
  const { clock, targets } = around
  try {
    // One limit for all redirects together.
    const asked = () => limited(millis, around, (signal) => pageAt(url, settings, { signal, targets }))
    const { value: page, seconds } = await timed(clock, asked)
    const found = settings.text === undefined ? "" : `, with ${quoted(settings.text)}`
    const words = `${page.status} ${shown} in ${secondsText(seconds)}${found}`
    const { certificate } = page
    return {
      words,
      measures: [
        { label: "time", value: seconds, unit: "s", thresholds: { warning, critical: crit }, words },
        { label: "size", value: page.bytes, unit: "B", words },
        ...(certificate === undefined ? [] : [daysLeft(certificate, clock.wall(), days)]),
      ],
      faults: faultsOf(page, shown, settings),
    }
  } catch (error) {
    return critical(`${shown}: ${explainError(error)}`)
  }
})

const SHOWN_TEXT = 200

const quoted = (whole: string): string =>
  JSON.stringify(whole.length > SHOWN_TEXT ? `${whole.slice(0, SHOWN_TEXT).toWellFormed()}…` : whole)

const faultsOf = (
  page: Awaited<ReturnType<typeof pageAt>>,
  url: string,
  settings: HttpSettings,
): ReadonlyArray<Fault> => {
  const { status, text: wanted, pattern: written, redirects } = settings
  const highest = redirects === 0 ? 399 : 299
  const isWanted =
    status === undefined ? page.status >= 200 && page.status <= highest : status.includes(page.status)
  const part = page.bytes > LONGEST_BODY ? " in its first MiB" : ""
  const where = page.encoding === "identity" ? part : ` in its compressed form (${page.encoding})`
  const faults: Array<Fault> = []
  const blame = (words: string) => faults.push({ status: "critical", words })
  if (!isWanted) blame(`${page.status} ${url}`)
  if (wanted !== undefined && !page.body.includes(wanted)) blame(`${url} lacks ${quoted(wanted)}${where}`)
  if (written !== undefined) {
    const found = searchTexts(written, [page.body])
    if (found === undefined) faults.push({ status: "unknown", words: tooSlow(written) })
    else if (found[0] === false) blame(`${url} does not match /${written}/${where}`)
  }
  return faults
}

const SENT_AGAIN: ReadonlySet<number> = new Set([307, 308])

const pageAt = async (
  first: string,
  settings: HttpSettings,
  { signal, targets }: Omit<ProbeAround, "clock">,
) => {
  const most = settings.redirects ?? DEFAULT_REDIRECTS
  const origin = originOf(new URL(first))
  const trust = await trusting(settings)
  let url = new URL(first)
  // A redirect is followed by GET, unless it asks to send the same again (RFC 9110, 15.4).
  let { method = "GET", body } = settings
  for (let followed = 0; ; followed++) {
    const options = { ...optionsOf(url, origin, { ...settings, method }), signal, ...trust }
    const { response, certificate } = await ask(url, { options, signal, targets }, settings, body)
    const { statusCode: status = 0, headers } = response
    const next = status >= 300 && status <= 399 ? headers.location : undefined
    if (next === undefined || most === 0 || settings.status?.includes(status)) {
      // Other than `identity` where the server compresses although it was asked not to.
      const { "content-encoding": encoding = "identity" } = headers
      const read = await bodyOf(response, targets !== undefined)
      // A page that ends with its connection looks whole where the limit closed the connection.
      signal.throwIfAborted()
      return { status, encoding, certificate, ...read }
    }
    response.destroy()
    if (followed >= most) throw new Error(`more than ${most} redirects`)
    url = new URL(next, url)
    if (method === "POST" && !SENT_AGAIN.has(status)) [method, body] = ["GET", undefined]
    // The body may be a secret, like a header field.
    if (body !== undefined && originOf(url) !== origin)
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
) => ({
  method,
  ...(originOf(url) === origin && socket !== undefined && { socketPath: socket }),
  rejectUnauthorized: verify,
  // A header field may be a secret, which another server must not see.
  headers: {
    host: hostField(url),
    "user-agent": "tocsin-agent",
    accept: "*/*",
    // Without it a server may compress the page, in which no text would be found (RFC 9110, 12.5.3).
    "accept-encoding": "identity",
    ...(originOf(url) === origin && Object.fromEntries(headers ?? [])),
  },
})

interface Way extends Omit<ProbeAround, "clock"> {
  readonly options: RequestOptions
}

const ask = async (url: URL, { options, ...around }: Way, trust: Trust, body?: string) => {
  if (!["http:", "https:"].includes(url.protocol)) throw new Error(`redirected to ${url.protocol}`)
  const isSecure = url.protocol === "https:"
  // Loaded only where it is used: TLS takes some megabytes.
  const { Agent, request } = isSecure ? await import("node:https") : await import("node:http")
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const isLocal = options.socketPath !== undefined
    const agent = !isLocal && connectingBy(new Agent(), (host, port) => connected(host, port, around))
    const sent = request(url, { ...options, agent })
    sent.on("error", reject)
    // After an answer that switches protocols, Node reports neither an answer nor an error.
    sent.on("close", () => reject(new Error("the connection was closed without an answer")))
    sent.on("response", resolve)
    sent.end(body)
  })
  // The socket of an https request is one of TLS.
  const certificate = isSecure
    ? await shownCertificate(response.socket as TLSSocket, trust, systemClock.wall())
    : undefined
  return { response, certificate }
}

const bodyOf = async (response: IncomingMessage, isCut: boolean) => {
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
