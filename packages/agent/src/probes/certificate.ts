import type { DetailedPeerCertificate, TLSSocket } from "node:tls"
import type { Measure } from "./Probe.ts"
import { givenOr, type Thresholds, thresholdsOf } from "./Range.ts"
import { authoritiesOf, type Trust } from "./trust.ts"

const MILLIS_PER_HOUR = 3_600_000
const MILLIS_PER_DAY = 86_400_000

const endOf = ({ valid_to: end }: DetailedPeerCertificate): number => Date.parse(end)

/**
 * The certificate that a server showed, and the first to expire of those that lead from it to a trusted authority. A
 * server may send more, such as for older clients, and authorities are renewed by their programs.
 */
export const shownCertificate = async (socket: TLSSocket, trust: Trust, now: number) => {
  const own = socket.getPeerCertificate(true)
  const { X509Certificate } = await import("node:crypto")
  const roots = new Map<string, InstanceType<typeof X509Certificate>>()
  const isTrusted = ({ raw }: DetailedPeerCertificate): boolean => {
    const one = new X509Certificate(raw)
    if (roots.size === 0) for (const pem of authoritiesOf(trust)) roots.set(pem, new X509Certificate(pem))
    return [...roots.values()].some((root) => one.checkIssued(root) && one.verify(root.publicKey))
  }
  let first = own
  const below = [own]
  for (let above = own.issuerCertificate; !isRoot(above); above = above.issuerCertificate) {
    // Only here it matters whether it is used. OpenSSL prefers authorities that it trusts, and what is valid.
    if (endOf(above) < endOf(first)) {
      if (below.some(isTrusted) || (socket.authorized && endOf(above) < now)) break
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
  const until = endOf(first)
  const left = until - now
  const days = Math.floor(left / MILLIS_PER_DAY)
  const hours = Math.floor(left / MILLIS_PER_HOUR)
  const name =
    first === own ? "certificate" : `certificate of ${[first.subject.CN ?? first.subject.O].join()}`
  const date = Number.isNaN(until) ? first.valid_to : new Date(until).toISOString()
  const [time, to] =
    days >= 2
      ? [`${days} days`, date.slice(0, 10)]
      : [hours === 1 ? "1 hour" : `${hours} hours`, `${date.slice(0, 16)}Z`]
  return {
    label: "days",
    value: Number.isNaN(left) ? -1 : left / MILLIS_PER_DAY,
    unit: "d",
    thresholds: givenOr(thresholds, ownThresholds(first)),
    words: left >= 0 ? `${name} valid for ${time}, to ${to}` : `${name} expired on ${date.slice(0, 10)}`,
  }
}
