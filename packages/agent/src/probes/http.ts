import { type Expectation, failedConditions } from "@tocsin/contract/watches/conditions"
import { LONGEST_WANTED, quoted } from "@tocsin/contract/watches/ConditionValue"
import { HEADER_NAME } from "@tocsin/contract/watches/optionProblems"
import { BOUNDS, LONGEST, METHODS, MOST } from "@tocsin/contract/watches/watchOptions"
import type { IncomingMessage } from "node:http"
import { afterMillis } from "../clock/Clock.ts"
import { fileAt } from "../config/PemFile.ts"
import {
  anyText,
  checked,
  flag,
  integer,
  mapOf,
  objectOr,
  oneOf,
  oneOrMore,
  type ReadBy,
  type Reader,
  record,
  refused,
  text,
} from "../config/Reader.ts"
import { explainError } from "../sending/explainError.ts"
import { expectation, judgeOptions, timeFields, timeOf, timeThresholds } from "./expectation.ts"
import { LONGEST_BODY, pageText } from "./pageText.ts"
import { critical, type Fault, probe, type ProbeAround } from "./Probe.ts"
import { limited, MILLIS_PER_SECOND, secondsText, wait, WAIT_MILLIS } from "./network.ts"
import { leftFields, thresholdFields, type Thresholds } from "./thresholds.ts"
import { pattern, searchTexts, tooSlow } from "./searchTexts.ts"
import { daysLeft } from "./certificate.ts"
import { judgeTrust, trustFields } from "./trust.ts"
import { visitPage } from "./visitPage.ts"

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

/** A text, or an object or a list, which is sent as JSON. */
const sentBody = objectOr<object, string>(
  (value, place) => {
    if (typeof value !== "object" || value === null) return undefined
    return isShort(JSON.stringify(value)) ? value : refused(place, LONG_BODY)
  },
  (value, place) => {
    const read = anyText(value, place)
    return read === undefined || isShort(read) ? read : refused(place, LONG_BODY)
  },
)
const LONG_BODY = `must have at most ${LONGEST.sent} bytes`
const isShort = (sent: string): boolean => Buffer.byteLength(sent) <= LONGEST.sent

/** A part of `Authorization`, which is one line. */
const credential = text({ max: LONGEST.line })

export const sentFields = mapOf(text({ max: LONGEST.line }), { max: MOST.headers, ...HEADER_NAME })

const fields = record(
  {
    url: address,
    socket: fileAt,
    method: oneOf(...METHODS),
    body: sentBody,
    auth: record({
      bearer: credential,
      basic: record({ user: credential, password: credential }, ["user", "password"]),
    }),
    expect: expectation,
    secret: oneOrMore(text({ max: LONGEST.value }), MOST.secret),
    status: oneOrMore(integer(BOUNDS.status), MOST.statuses),
    text: text({ max: LONGEST.line }),
    pattern,
    redirects: integer(BOUNDS.redirects),
    headers: sentFields,
    verify: flag,
    days: record(leftFields),
    wait,
    ...trustFields,
    ...thresholdFields,
    ...timeFields,
  },
  ["url"],
)

const reader = checked(fields, (settings, place) => {
  judgeTrust(settings, place)
  judgeOptions("http")(settings, place)
  const { password, username } = URL.parse(settings.url ?? "") ?? { password: "", username: "" }
  if (settings.auth !== undefined && username + password !== "")
    place.refuse("stands in url as its user too: remove one of them", [...place.path, "auth"])
})

type HttpSettings = ReadBy<typeof reader>

/** Asks for a page and examines its status, body, time and certificate; thresholds are seconds. */
export const http = probe({ name: "http", lane: "network" }, reader, async (settings, around) => {
  const { url, days = {}, wait: millis = WAIT_MILLIS } = settings
  // Credentials and queries may be secrets.
  const { origin, pathname } = new URL(url)
  const shown = origin + pathname
  const { clock } = around
  try {
    // One limit for all redirects together.
    const page = await limited(millis, around, (signal) => pageAt(settings, { ...around, signal }))
    const { certificate, seconds } = page
    const wanted = settings.text ?? settings.expect?.text
    const found = wanted === undefined ? "" : `, with ${quoted(wanted, LONGEST_WANTED)}`
    const words = `${page.status} ${shown} in ${secondsText(seconds)}${found}`
    const { faults, isNamed } = judged(page, shown, settings, timeThresholds(settings))
    return {
      words,
      measures: [
        timeOf(seconds, settings, isNamed ? "" : words),
        { label: "size", value: page.bytes, unit: "B", words },
        ...(certificate === undefined ? [] : [daysLeft(certificate, clock.wall(), days)]),
      ],
      faults: [...faults, ...faultsOf(page, shown, settings)],
    }
  } catch (error) {
    return critical(`${shown}: ${explainError(error, around.targets === undefined)}`)
  }
})

type Page = Awaited<ReturnType<typeof pageAt>>

/**
 * The conditions that a page fails: all of those beside `expect`, and with it the first one. `isNamed`: one of them
 * weighs as much as the time that it took, so the time is not named.
 */
const judged = (page: Page, shownUrl: string, settings: HttpSettings, { critical: late }: Thresholds) => {
  const { expect, redirects, secret, status, text: wanted } = settings
  const usual = [redirects === 0 ? "200-399" : "200-299"]
  const wholly = { ...expect, status: status ?? expect?.status ?? usual, text: wanted ?? expect?.text }
  const all = failedConditions(withoutNone(wholly), page, { shownUrl, secret })
  if (expect === undefined) return { faults: all, isNamed: false }
  const [first] = all
  // Conditions that warn come after a time that is critical.
  const isLate = first?.status === "warning" && late?.isBad(page.seconds) === true
  return first === undefined || isLate ? { faults: [], isNamed: false } : { faults: [first], isNamed: true }
}

/** A text that nothing wants is no condition. */
const withoutNone = ({ text: wanted, ...others }: Loose): Expectation => ({
  ...others,
  ...(wanted !== undefined && { text: wanted }),
})
type Loose = Omit<Expectation, "text"> & { readonly text?: string | undefined }

const faultsOf = (page: Page, url: string, settings: HttpSettings): ReadonlyArray<Fault> => {
  const { days, pattern: written } = settings
  const faults: Array<Fault> = []
  if (days !== undefined && page.certificate === undefined)
    faults.push({ status: "unknown", words: `${url} came without TLS, and so without a certificate` })
  if (written !== undefined) {
    const found = searchTexts(written, [page.body])
    if (found === undefined) faults.push({ status: "unknown", words: tooSlow(written) })
    else if (found[0] === false)
      faults.push({ status: "critical", words: `${url} does not match /${written}/${page.where}` })
  }
  return faults
}

/** How long a body is read that does not end, and how often it is searched after that. */
const PATIENCE_MILLIS = 2_000
const LOOK_MILLIS = 250
/** A body is searched a last time, ended or not, after this part of the time that is left, or so long before its end. */
const PATIENT_PART = 0.9

/** A page, and the seconds to its end, or to its status if it does not end. */
const pageAt = async (settings: HttpSettings, { clock, ...around }: ProbeAround) => {
  const begun = clock.steady()
  const { wait: millis = WAIT_MILLIS } = settings
  const answer = await visitPage(visitOf(settings), around)
  const answered = clock.steady() - begun
  const isTimed = Object.values(timeThresholds(settings)).some((one) => one !== undefined)
  const left = millis - answered
  const longest = Math.max(left * PATIENT_PART, left - LOOK_MILLIS)
  const patience = isTimed ? longest : Math.min(longest, PATIENCE_MILLIS)
  const isWatch = around.targets !== undefined
  const read = await bodyOf(answer, { ...settings, patience, longest, clock, isWatch })
  // A page that ends with its connection looks whole where the limit closed the connection.
  around.signal.throwIfAborted()
  const seconds = (read.isEndless ? answered : clock.steady() - begun) / MILLIS_PER_SECOND
  const { certificate, status } = answer
  const isCut = read.isEndless && read.bytes <= LONGEST_BODY
  const where = `${read.where}${isCut ? ` in an answer that has not ended within ${millis / MILLIS_PER_SECOND} s` : ""}`
  const isWhole = read.isWhole && !isCut && read.bytes <= LONGEST_BODY
  return { ...read, where, status, certificate, seconds, isWhole, headers: fieldsOf(answer.response) }
}

/** The header fields of an answer, as conditions read them. */
const fieldsOf = ({ rawHeaders }: IncomingMessage): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = [rawHeaders[at]?.toLowerCase(), rawHeaders[at + 1]]
    const before = found.get(name)
    found.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return found
}

/** The request of a probe: its credentials as a header field, an object as JSON. */
const visitOf = ({ auth, body, expect, headers, status: given, ...settings }: HttpSettings) => {
  const status = given ?? expect?.status
  const { basic, bearer } = auth ?? {}
  const user = basic && Buffer.from(`${basic.user}:${basic.password}`).toString("base64")
  const names = new Set([...(headers?.keys() ?? [])].map((name) => name.toLowerCase()))
  const isJson = typeof body === "object" && !names.has("content-type")
  return {
    ...settings,
    headers: new Map([
      ...(headers ?? []),
      ...(bearer === undefined ? [] : [["authorization", `Bearer ${bearer}`] as const]),
      ...(user === undefined ? [] : [["authorization", `Basic ${user}`] as const]),
      ...(isJson ? [["content-type", "application/json"] as const] : []),
    ]),
    ...(status !== undefined && { status }),
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  }
}

interface Wanted extends Pick<HttpSettings, "expect" | "text" | "pattern">, Pick<ProbeAround, "clock"> {
  /** After it, a body is read on only for what is not found yet. */
  readonly patience: number
  /** After it, what was read of a body is all that is searched. */
  readonly longest: number
  /** A watch reads the first MiB, and its words quote nothing of the answer. */
  readonly isWatch: boolean
}

const bodyOf = async (
  { end, response }: Awaited<ReturnType<typeof visitPage>>,
  { clock, expect, isWatch, longest, patience, pattern: written, text: wanted = expect?.text }: Wanted,
) => {
  const last = clock.steady() + longest
  const chunks: Array<Buffer> = []
  let [bytes, isEndless] = [0, false]
  const read = () => pageText(response.headers, Buffer.concat(chunks), !isWatch)
  const all = [expect, expect?.warning]
  // Only the end of a page says what these find.
  const isOpen =
    written !== undefined ||
    all.some((one) => one?.json !== undefined || one?.not_text !== undefined) ||
    expect?.warning?.text !== undefined
  const look = (): void => {
    const isFound = !isOpen && (wanted === undefined || read().body.includes(wanted))
    const left = last - clock.steady()
    isEndless = isFound || bytes > LONGEST_BODY || left <= 0
    if (isEndless) end()
    else cancel = afterMillis(clock, Math.min(LOOK_MILLIS, left), look)
  }
  let cancel = afterMillis(clock, patience, look)
  try {
    // A stream of bytes without an encoding yields buffers.
    for await (const part of response as AsyncIterable<Buffer>) {
      if (bytes < LONGEST_BODY) chunks.push(part)
      bytes += part.length
      if (isWatch && bytes > LONGEST_BODY) break
    }
  } catch (error) {
    if (!isEndless) throw error
  } finally {
    cancel()
    end()
  }
  return { ...read(), bytes, isEndless }
}
