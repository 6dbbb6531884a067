import type { DetailedPeerCertificate, TLSSocket } from "node:tls"
import { systemClock } from "../clock/Clock.ts"
import type { Measure } from "./Probe.ts"
import { givenOr, type Thresholds, thresholdsOf } from "./thresholds.ts"
import { authoritiesOf, type Trust } from "./trust.ts"

const MILLIS_PER_HOUR = 3_600_000
const MILLIS_PER_DAY = 24 * MILLIS_PER_HOUR

const endOf = ({ valid_to: end }: DetailedPeerCertificate): number => Date.parse(end)

/**
 * The certificate that a server showed, and the first to expire of those that lead from it to a trusted authority. A
 * server may send more, such as for older clients, and authorities are renewed by their programs.
 */
export const shownCertificate = async (socket: TLSSocket, trust: Trust) => {
  const { X509Certificate } = await import("node:crypto")
  const own = socket.getPeerCertificate(true)
  let first = own
  const below = [own]
  for (let above = own.issuerCertificate; !isRoot(above); above = above.issuerCertificate) {
    if (endOf(above) < endOf(first)) {
      // Only here it matters whether it is used. OpenSSL prefers authorities that it trusts, and what is valid.
      const roots = authoritiesOf(trust).map((pem) => new X509Certificate(pem))
      const ones = below.map(({ raw }) => new X509Certificate(raw))
      const isTrusted = ones.some((one) =>
        roots.some((root) => one.checkIssued(root) && one.verify(root.publicKey)),
      )
      if (isTrusted || (socket.authorized && endOf(above) < systemClock.wall())) break
      first = above
    }
    below.push(above)
  }
  return { own, first }
}

const isRoot = (one: DetailedPeerCertificate | undefined): boolean =>
  one?.raw === undefined || one.issuerCertificate?.fingerprint256 === one.fingerprint256

/** Three weeks and a week leave time to renew what should have renewed by itself: a third and a tenth of a short life. */
const ownThresholds = ({ valid_from: begin, valid_to: end }: DetailedPeerCertificate): Thresholds => {
  const days = (Date.parse(end) - Date.parse(begin)) / MILLIS_PER_DAY
  const least = (most: number, part: number) => `${Number(Math.min(most, (days || 365) / part).toFixed(4))}:`
  return thresholdsOf(least(21, 3), least(7, 10))
}

/** The days that the certificates of a server have left. */
export const daysLeft = (
  { first, own }: Awaited<ReturnType<typeof shownCertificate>>,
  now: number,
  thresholds: Thresholds,
): Measure => {
  const left = endOf(first) - now
  const of = first === own ? "" : ` of ${[first.subject.CN ?? first.subject.O].join()}`
  return {
    label: "days",
    value: Number.isNaN(left) ? -1 : left / MILLIS_PER_DAY,
    unit: "d",
    thresholds: givenOr(thresholds, ownThresholds(first)),
    words: `certificate${of} ${lifeText(first.valid_to, left)}`,
  }
}

const lifeText = (end: string, left: number): string => {
  const time = Number.isNaN(left) ? end : new Date(end).toISOString()
  const day = time.slice(0, 10)
  const hours = Math.floor(left / MILLIS_PER_HOUR)
  if (hours >= 48) return `valid for ${Math.floor(hours / 24)} days, to ${day}`
  if (hours >= 0) return `valid for ${hours} ${hours === 1 ? "hour" : "hours"}, to ${time.slice(0, 16)}Z`
  return `expired on ${day}`
}
