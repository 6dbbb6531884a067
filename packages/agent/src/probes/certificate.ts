import type { PeerCertificate } from "node:tls"
import type { Measure } from "./Finding.ts"
import { givenOr, type Thresholds, thresholdsOf } from "./Range.ts"

const MILLIS_PER_DAY = 86_400_000

/** Three weeks leave time to renew what should have renewed by itself. */
const OWN = thresholdsOf("21:", "7:")

/** The days that a certificate has left. */
export const daysLeft = (
  { valid_to: end }: Pick<PeerCertificate, "valid_to">,
  now: number,
  thresholds: Thresholds,
): Measure => {
  const until = Date.parse(end)
  const days = (until - now) / MILLIS_PER_DAY
  const date = Number.isNaN(until) ? end : new Date(until).toISOString().slice(0, 10)
  const words =
    days < 0 ? `certificate expired on ${date}` : `certificate valid for ${Math.floor(days)} days, to ${date}`
  return {
    label: "days",
    value: Number.isNaN(days) ? -1 : Math.floor(days),
    unit: "d",
    thresholds: givenOr(thresholds, OWN),
    words,
  }
}
