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
export class Cookies {
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
