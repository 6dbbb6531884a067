import { afterMillis } from "../clock/Clock.ts"
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
import { explainError } from "../sending/explainError.ts"
import { LONGEST_BODY, pageText } from "./pageText.ts"
import {
  critical,
  type Fault,
  limited,
  MILLIS_PER_SECOND,
  probe,
  type ProbeAround,
  secondsText,
  wait,
  WAIT_MILLIS,
} from "./Probe.ts"
import { leftFields, thresholdFields } from "./thresholds.ts"
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
  for (const name of ["text", "pattern"] as const)
    if (settings.method === "HEAD" && settings[name] !== undefined)
      place.refuse("searches a page, and HEAD asks for none: use method: GET", [...place.path, name])
})

type HttpSettings = ReadBy<typeof reader>

/** Asks for a page and examines its status, body, time and certificate; thresholds are seconds. */
export const http = probe({ name: "http", lane: "network" }, reader, async (settings, around) => {
  const { url, days = {}, warning, critical: crit, wait: millis = WAIT_MILLIS } = settings
  // Credentials and queries may be secrets.
  const { origin, pathname } = new URL(url)
  const shown = origin + pathname
  const { clock } = around
  try {
    // One limit for all redirects together.
    const page = await limited(millis, around, (signal) => pageAt(settings, { ...around, signal }))
    const { seconds } = page
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
    return critical(`${shown}: ${explainError(error, around.targets === undefined)}`)
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
  const { days, status, text: wanted, pattern: written, redirects } = settings
  const highest = redirects === 0 ? 399 : 299
  const isWanted =
    status === undefined ? page.status >= 200 && page.status <= highest : status.includes(page.status)
  const { where } = page
  const faults: Array<Fault> = []
  if (days !== undefined && page.certificate === undefined)
    faults.push({ status: "unknown", words: `${url} came without TLS, and so without a certificate` })
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

/** How long a body is read that does not end, and how often it is searched after that. */
const PATIENCE_MILLIS = 2_000
const LOOK_MILLIS = 250
/** A body is searched a last time, ended or not, after this part of the time that is left, or so long before its end. */
const PATIENT_PART = 0.9

/** A page, and the seconds to its end, or to its status if it does not end. */
const pageAt = async (settings: HttpSettings, { clock, ...around }: ProbeAround) => {
  const begun = clock.steady()
  const { wait: millis = WAIT_MILLIS, warning, critical: crit } = settings
  const answer = await visitPage(settings, around)
  const answered = clock.steady() - begun
  const isTimed = warning !== undefined || crit !== undefined
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
  return { ...read, where, status, certificate, seconds }
}

interface Wanted extends Pick<HttpSettings, "text" | "pattern">, Pick<ProbeAround, "clock"> {
  /** After it, a body is read on only for a text or a pattern that is not found yet. */
  readonly patience: number
  /** After it, what was read of a body is all that is searched. */
  readonly longest: number
  /** A watch reads the first MiB, and its words quote nothing of the answer. */
  readonly isWatch: boolean
}

const bodyOf = async (
  { end, response }: Awaited<ReturnType<typeof visitPage>>,
  { clock, isWatch, longest, patience, pattern: written, text: wanted }: Wanted,
) => {
  const last = clock.steady() + longest
  const chunks: Array<Buffer> = []
  let [bytes, isEndless] = [0, false]
  const read = () => pageText(response.headers, Buffer.concat(chunks), !isWatch)
  const look = (): void => {
    const isFound = written === undefined && (wanted === undefined || read().body.includes(wanted))
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
