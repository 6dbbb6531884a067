import { originOf } from "@tocsin/contract/formats/hosts"
import { isStatusOf } from "@tocsin/contract/watches/conditions"
import type { RequestOptions } from "node:https"
import type { TLSSocket } from "node:tls"
import { askPage } from "./askPage.ts"
import { identityFault, shownCertificate } from "./certificate.ts"
import type { ProbeAround } from "./Probe.ts"
import { OLD_TLS, type Trust, trusting } from "./trust.ts"
import { systemClock } from "../clock/Clock.ts"

interface Cookie {
  readonly pair: string
  readonly path: string
}

/** Cookies of one origin, as many as browsers keep. */
const MOST_COOKIES = 50
/** A pair that can be sent back, no longer than browsers take. */
const SENDABLE = /^[\t -~\u0080-\u00ff]{1,4096}$/

/** The cookies that the pages of one probe set (RFC 6265). Each stays with the origin that set it. */
class Cookies {
  readonly #byOrigin = new Map<string, Map<string, Cookie>>()

  /** Takes the fields `Set-Cookie` of a page, which may also remove cookies. */
  keep(page: URL, fields: ReadonlyArray<string> = []): void {
    for (const field of fields) {
      const [pair = "", ...attributes] = field.split(";").map((part) => part.trim())
      const given = new Map(attributes.map(splitPair))
      const { hostname, pathname, protocol } = page
      const domain = (given.get("domain") ?? "").toLowerCase().replace(/^\./, "")
      const isForeign = domain !== "" && hostname !== domain && !hostname.endsWith(`.${domain}`)
      if (isForeign || (given.has("secure") && protocol !== "https:") || !SENDABLE.test(pair)) continue
      const folder = pathname.slice(0, Math.max(1, pathname.lastIndexOf("/")))
      const path = /^\/.*/.exec(given.get("path") ?? "")?.[0] ?? folder
      this.#put(page, { pair, path }, hasExpired(given))
    }
  }

  /** Takes the pairs of a field `Cookie`. */
  seed(page: URL, field: string): void {
    const pairs = field.split(";").flatMap((part) => part.trim() || [])
    for (const pair of pairs) this.#put(page, { pair, path: "/" }, false)
  }

  /** The field `Cookie` of a request, with the longest path first. */
  field({ origin, pathname }: URL): string | undefined {
    const sent = [...(this.#byOrigin.get(origin)?.values() ?? [])].filter(
      ({ path }) => pathname === path || pathname.startsWith(path.replace(/\/?$/, "/")),
    )
    const pairs = sent.toSorted((a, b) => b.path.length - a.path.length).map(({ pair }) => pair)
    return pairs.length === 0 ? undefined : pairs.join("; ")
  }

  #put({ origin }: URL, cookie: Cookie, isOver: boolean): void {
    const kept = this.#byOrigin.get(origin) ?? new Map<string, Cookie>()
    const key = `${cookie.pair.split("=", 1).join("").trim()};${cookie.path}`
    if (isOver) kept.delete(key)
    else if (kept.has(key) || kept.size < MOST_COOKIES) kept.set(key, cookie)
    this.#byOrigin.set(origin, kept)
  }
}

const splitPair = (attribute: string): [name: string, value: string] => {
  const [name = "", ...value] = attribute.split("=")
  return [name.trim().toLowerCase(), value.join("=").trim()]
}

/** `Max-Age` counts where both are given. */
const hasExpired = (given: ReadonlyMap<string, string>): boolean => {
  const age = given.get("max-age") ?? ""
  if (/^-?\d+$/.test(age)) return Number(age) <= 0
  return Date.parse(given.get("expires") ?? "") <= systemClock.wall()
}

interface Visit {
  readonly url: string
  readonly method?: string
  readonly body?: string
  readonly headers?: ReadonlyMap<string, string>
  /** A Unix socket to connect to. */
  readonly socket?: string
  readonly verify?: boolean
  /** How many redirects to follow. */
  readonly redirects?: number
  /** Statuses that are not followed. */
  readonly status?: ReadonlyArray<number | string>
}

const DEFAULT_REDIRECTS = 5
const SENT_AGAIN: ReadonlySet<number> = new Set([307, 308])

/** Asks for a page and follows its redirects. What may be a secret stays with the origin that it is for. */
export const visitPage = async (visit: Visit & Trust, around: Omit<ProbeAround, "clock">) => {
  const { headers, redirects: most = DEFAULT_REDIRECTS, socket, verify = true } = visit
  const first = new URL(visit.url)
  const own = Object.fromEntries([...(headers ?? [])].map(([name, value]) => [name, bytesOf(value)]))
  const trust = { ...(!verify && OLD_TLS), ...(await trusting(visit)) }
  const cookies = new Cookies()
  for (const [name, value] of Object.entries(own))
    if (name.toLowerCase() === "cookie") cookies.seed(first, value)
  const users = new Map<string, URL>()
  // A redirect is followed by GET, unless it asks to send the same again (RFC 9110, 15.4).
  let { body, method = "GET" } = visit
  for (let [url, followed] = [first, 0]; ; followed++) {
    const isFirst = originOf(url) === originOf(first)
    const { password, username } = (hasUser(url) ? url : users.get(originOf(url))) ?? url
    Object.assign(url, { password, username })
    users.set(originOf(url), url)
    const cookie = cookies.field(url)
    const options: RequestOptions = {
      method,
      rejectUnauthorized: verify,
      checkServerIdentity: identityFault,
      ...(isFirst && socket !== undefined && { socketPath: socket }),
      ...trust,
      headers: { ...USUAL, ...(isFirst && own), ...(cookie !== undefined && { cookie }) },
    }
    const answer = await askPage(url, { options, body }, around)
    const { statusCode: status = 0, headers: answered } = answer.response
    const next = status >= 300 && status <= 399 ? answered.location : undefined
    if (next === undefined || most === 0 || isStatusOf(status, visit.status ?? [])) {
      // The socket of an https request is one of TLS.
      const secured = url.protocol === "https:" ? (answer.response.socket as TLSSocket) : undefined
      return { ...answer, status, certificate: secured && (await shownCertificate(secured, visit)) }
    }
    answer.end()
    if (followed >= most) throw new Error(`more than ${most} redirects`)
    cookies.keep(url, answered["set-cookie"])
    url = redirected(next, url, around.targets === undefined)
    if (method !== "HEAD" && !SENT_AGAIN.has(status)) [method, body] = ["GET", undefined]
    // The body may be a secret, like a header field.
    if (body !== undefined && originOf(url) !== originOf(first))
      throw new Error(`redirected with its body to ${url.origin}`)
    // The first address of a watch has no user either.
    if (around.targets !== undefined && hasUser(url)) throw new Error("redirected to an address with a user")
  }
}

const USUAL = {
  "user-agent": "tocsin-agent",
  accept: "*/*",
  // Without it a server may compress the page (RFC 9110, 12.5.3).
  "accept-encoding": "identity",
}

/** A header field is bytes: those of UTF-8. */
const bytesOf = (text: string): string => Buffer.from(text).toString("latin1")

const hasUser = ({ password, username }: URL): boolean => username + password !== ""

/** Other bytes than ASCII are asked for as they came, as browsers do. */
const redirected = (location: string, { href }: URL, isQuoted: boolean): URL => {
  const escaped = location.replaceAll(
    /[\u0080-\u00ff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const url = URL.parse(escaped, href)
  if (url === null) throw new Error("redirected to an address that cannot be read: correct its Location")
  if (!["http:", "https:"].includes(url.protocol))
    throw new Error(`redirected to ${isQuoted ? url.protocol : "what is no page"}`)
  return url
}
