import * as Instant from "@tocsin/contract/formats/Instant"
import { Push } from "@tocsin/core/features/push/Push"
import { Duration, Effect } from "effect"
import { attentionIf, type Findings, ok } from "../../commands/doctor/Finding.ts"
import { plural } from "../../output/texts.ts"

const WARNED_BEFORE = Duration.days(14)

/** Browsers that take messages and show none, those of people who have not signed in for long, and lost keys. */
export const browserFindings = (
  { browsers, key }: Effect.Success<Push["Service"]["states"]>,
  now: Instant.Instant,
): Findings => {
  if (browsers.length === 0) return []
  const soon = Instant.plus(now, WARNED_BEFORE)
  const rows = browsers.map(({ row }) => row)
  const namesOf = (some: typeof rows): string =>
    some.map(({ name, operator }) => `${name} of ${operator}`).join(", ")
  const silent = namesOf(
    rows.filter(({ shown_at, taken_at }) => taken_at !== undefined && shown_at === undefined),
  )
  const ending = namesOf(rows.filter(({ expires_at }) => expires_at !== undefined && expires_at <= soon))
  const unreadable = namesOf(browsers.flatMap(({ row, state }) => (state === "unreadable" ? [row] : [])))
  const where = (applies: boolean, message: string): Findings => attentionIf(applies, "browsers", message)
  const findings: Findings = [
    ...where(
      silent !== "",
      `these took messages and never showed one: ${silent}; look whether their systems allow notifications`,
    ),
    ...where(ending !== "", `these end within 14 days: ask their people to sign in again (${ending})`),
    ...where(
      unreadable !== "",
      `no key of this shell opens ${unreadable}: set SERVICE_SECRETS_KEY to theirs, or press Notify this browser in them again`,
    ),
    ...where(
      key === "unreadable",
      "no key of this shell opens the key by which browsers know this server: set SERVICE_SECRETS_KEY to it, or make another with POST /ops/v1/push/key",
    ),
  ]
  return findings.length > 0
    ? findings
    : [ok("browsers", `${plural(rows.length, "browser")} can be notified`)]
}

export const examineBrowsers = Effect.gen(function* () {
  return browserFindings(yield* Push.use(({ states }) => states), yield* Instant.now)
})
