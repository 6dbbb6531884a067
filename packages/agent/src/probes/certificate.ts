import type { X509Certificate } from "node:crypto"
import type { PeerCertificate, TLSSocket } from "node:tls"
import { systemClock } from "../clock/Clock.ts"
import type { Measure } from "./Probe.ts"
import { givenOr, type Thresholds, thresholdsOf } from "./thresholds.ts"
import { authoritiesOf, SYSTEM, type Trust } from "./trust.ts"

const MILLIS_PER_HOUR = 3_600_000
const MILLIS_PER_DAY = 24 * MILLIS_PER_HOUR

const endOf = ({ validTo: end }: X509Certificate): number => Date.parse(end)

/**
 * The certificate that a server showed, and the first to expire of those that lead from it to a trusted authority. A
 * server may send more, such as for older clients, and authorities are renewed by their programs.
 */
export const shownCertificate = async (socket: TLSSocket, trust: Trust) => {
  const { X509Certificate } = await import("node:crypto")
  const sent = sentCertificates(socket)
  const [own] = sent
  if (own === undefined) throw new Error("it shows no certificate")
  let first = own
  const below = [own]
  for (let above = issuerOf(own, sent); above; above = issuerOf(above, sent, below)) {
    if (endOf(above) < endOf(first)) {
      // Only here it matters whether it is used. OpenSSL prefers authorities that it trusts, and what is valid.
      const roots = authoritiesOf(trust).map((pem) => new X509Certificate(pem))
      const isTrusted = below.some((one) =>
        roots.some(
          (root) =>
            root.fingerprint256 === one.fingerprint256 ||
            (one.checkIssued(root) && one.verify(root.publicKey)),
        ),
      )
      if (isTrusted || (socket.authorized && endOf(above) < systemClock.wall())) break
      first = above
    }
    below.push(above)
  }
  const authority = await lastAuthority(below, trust)
  return { own, first: authority && endOf(authority) < endOf(first) ? authority : first }
}

/** Of the authorities that a file names, the one that issued a certificate and ends last; nobody else renews it. */
const lastAuthority = async (chain: ReadonlyArray<X509Certificate>, trust: Trust) => {
  if (trust.ca === undefined || trust.ca === SYSTEM) return undefined
  const { X509Certificate } = await import("node:crypto")
  return authoritiesOf(trust)
    .map((pem) => new X509Certificate(pem))
    .filter((root) => chain.some((one) => one.checkIssued(root) && one.verify(root.publicKey)))
    .toSorted((a, b) => endOf(b) - endOf(a))[0]
}

/**
 * All that a server sent, its own first: `issuerCertificate` is the next one sent, whoever issued it. The older kind of
 * object, of `getPeerCertificate`, ends some versions of Node.js at an uncommon, valid kind of key.
 */
const sentCertificates = (socket: TLSSocket): ReadonlyArray<X509Certificate> => {
  const sent: Array<X509Certificate> = []
  for (let one = socket.getPeerX509Certificate(); one !== undefined; one = one.issuerCertificate)
    sent.push(one)
  return sent
}

/** The certificate above another one, of those sent, unless it is a root, whose own end does not count. */
const issuerOf = (
  one: X509Certificate,
  sent: ReadonlyArray<X509Certificate>,
  below: ReadonlyArray<X509Certificate> = [],
): X509Certificate | undefined =>
  sent.find((other) => other !== one && !isRoot(other) && !below.includes(other) && one.checkIssued(other))

const isRoot = (one: X509Certificate): boolean => one.checkIssued(one)

/** A backslash of OpenSSL: before a sign, or a byte that cannot be printed. */
const ESCAPED = /\\([0-9A-F]{2}|.)/g

/** The values of a part of a subject, such as `CN`: a line each, or several with a plus between them. */
const subjectPart = ({ subject }: X509Certificate, part: string): ReadonlyArray<string> =>
  subject
    .split(/\n| \+ /)
    .flatMap((line) => (line.startsWith(`${part}=`) ? [line.slice(part.length + 1)] : []))
    .map((value) => value.replaceAll(ESCAPED, (_, sign: string) => (sign.length === 1 ? sign : " ")))

const nameOf = (one: X509Certificate): string =>
  ["CN", "O"].map((part) => subjectPart(one, part).join()).find((name) => name !== "") ?? ""

/** Why a certificate does not name a server, in the words of Node.js. */
export const misnomerOf = (name: string, own: X509Certificate): string | undefined => {
  const shown = { subject: { CN: subjectPart(own, "CN") }, subjectaltname: own.subjectAltName }
  // Of the object that Node.js makes for it, it reads these two.
  return identityFault(name, shown as unknown as PeerCertificate)?.message
}

const WHOLE_LABEL = /^DNS:\*\.[^*]+$/

/**
 * Why a certificate does not name a server. A wildcard stands for a whole first label (RFC 9525, 6.3): Node.js takes
 * `f*.shop.example` too, which browsers and curl refuse.
 */
export const identityFault = (name: string, shown: PeerCertificate): Error | undefined => {
  // Loaded only where it is used: TLS takes some megabytes.
  const { checkServerIdentity } = process.getBuiltinModule("node:tls")
  const { subjectaltname: names = "" } = shown
  const whole = names.replaceAll(/DNS:[^,]*/g, (one) =>
    WHOLE_LABEL.test(one) ? one : one.replaceAll("*", "?"),
  )
  const fault = checkServerIdentity(name, { ...shown, subjectaltname: whole })
  if (fault !== undefined) fault.message = fault.message.replace(whole, names)
  return fault
}

/** Three weeks and a week leave time to renew what should have renewed by itself: a third and a tenth of a short life. */
const ownThresholds = ({ validFrom: begin, validTo: end }: X509Certificate): Thresholds => {
  const days = (Date.parse(end) - Date.parse(begin)) / MILLIS_PER_DAY
  const least = (most: number, part: number) => `${Number(Math.min(most, (days || 365) / part).toFixed(4))}:`
  return thresholdsOf(least(21, 3), least(7, 10))
}

const { critical: UNEXPIRED } = thresholdsOf(undefined, "0:")

/** The days that the certificates of a server have left. */
export const daysLeft = (
  { first, own }: Awaited<ReturnType<typeof shownCertificate>>,
  now: number,
  thresholds: Thresholds,
): Measure => {
  const left = endOf(first) - now
  const of = first === own ? "" : ` of ${nameOf(first)}`
  const bounds = givenOr(thresholds, ownThresholds(first))
  return {
    label: "days",
    value: Number.isNaN(left) ? -1 : left / MILLIS_PER_DAY,
    unit: "d",
    // Who asks for an earlier warning does not ask for a milder end.
    thresholds: { ...bounds, critical: bounds.critical ?? UNEXPIRED },
    words: `certificate${of} ${lifeText(first.validTo, left)}`,
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
