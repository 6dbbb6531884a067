import * as Instant from "@tocsin/contract/formats/Instant"
import type { Integration } from "@tocsin/contract/integrations/Integrations"
import { isNearlyFull } from "@tocsin/contract/integrations/isNearlyFull"
import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { countUnknownJobs } from "@tocsin/core/features/integrations/unknownJobs"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { attention, attentionIf, type Findings, okUnless } from "../../commands/doctor/Finding.ts"
import type { Settings } from "../../settings/Settings.ts"
import { ageText, countText, plural } from "../../output/texts.ts"

/** That an integration soon refuses new checks, or has refused some of its requests. */
const integrationFindings = (
  { checks, last_refusal: refused, max_checks, name }: Integration,
  now: Instant.Instant,
): Findings => {
  const check = `integration ${name}`
  const full = `it has ${countText(checks)} of ${countText(max_checks)} checks, and refuses new ones beyond: delete checks, shorten forget_after, or add an integration`
  return [
    ...attentionIf(isNearlyFull({ checks, max_checks }), check, full),
    ...(refused === null
      ? []
      : [
          attention(
            check,
            `it refused a request, or a part of one, ${ageText(refused.at, now)}: correct its sender or its options (${refused.message})`,
          ),
        ]),
  ]
}

const LOOPBACK: ReadonlyArray<string> = ["127.0.0.1", "::1", "localhost"]

/** Integrations whose mails nothing takes, and a listener that others reach without TLS. */
const mailFindings = (
  { SERVICE_MAIL_HOST: host, SERVICE_MAIL_PORT: port, SERVICE_MAIL_TLS_CERT: cert }: Settings,
  ofMail: ReadonlyArray<Integration>,
): Findings => {
  const unheard = ofMail.map(({ name }) =>
    attention(`integration ${name}`, "no server with these settings takes its mails: set SERVICE_MAIL_PORT"),
  )
  if (port === undefined) return unheard
  return attentionIf(
    !LOOPBACK.includes(host) && cert === undefined,
    "mail",
    `mails arrive on ${host} without TLS: set SERVICE_MAIL_TLS_CERT and SERVICE_MAIL_TLS_KEY, or listen on 127.0.0.1 behind a mail server`,
  )
}

export const examineIntegrations = Effect.fnUntraced(function* (settings: Settings) {
  const { noteworthy, ofMail, unknown, withOnlyLogs } = yield* Integrations
  const now = yield* Instant.now
  return [
    ...(yield* unknown).map(({ kind, name }) =>
      attention(
        `integration ${name}`,
        `a later version of Tocsin has stored it, of the kind ${kind}, and this one leaves it as it is: upgrade this server`,
      ),
    ),
    ...(yield* withOnlyLogs).map(({ agent_id, check_id }) =>
      attention(
        `check ${agent_id}/${check_id}`,
        "it only gets /log, which states no result: send its address alone when the job succeeds, and with /fail when it fails",
      ),
    ),
    ...(yield* noteworthy).flatMap((shown) => integrationFindings(shown, now)),
    ...mailFindings(settings, yield* ofMail),
  ]
})

/** Jobs that are unknown while they are late, unless there are none: lateness is no failure of theirs. */
export const examineJobs = Effect.gen(function* () {
  const { jobs, unstated } = yield* countUnknownJobs(yield* Storage, yield* Commits)
  const counted = `${plural(jobs, "job")} unknown while late`
  if (jobs === 0) return []
  const remedy = `${unstated} of them since before late jobs were critical: set their severity`
  return [okUnless(unstated > 0, "jobs", `${counted}, as their severity says`, `${counted}, ${remedy}`)]
})
