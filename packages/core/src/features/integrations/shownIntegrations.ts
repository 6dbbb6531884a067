import type { Integration } from "@tocsin/contract/integrations/Integrations"
import { isNearlyFull } from "@tocsin/contract/integrations/isNearlyFull"
import * as Instant from "@tocsin/contract/formats/Instant"
import { MOST_WATCHES } from "@tocsin/contract/watches/Watches"
import { Duration, Effect, Struct } from "effect"
import { several } from "../../kernel/engine/metrics/Counters.ts"
import { integrationsMetrics } from "./integrationsMetrics.ts"
import { eachPage, firstRows } from "../../kernel/engine/lists/readPage.ts"
import { checkCount } from "./applyReports.ts"
import { isKnownKind, KINDS } from "./kinds.ts"
import { checkIdOf } from "./Report.ts"
import { ALL_INTEGRATIONS } from "./seeIntegrations.ts"
import type { IntegrationRecord } from "./IntegrationRecord.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"

/** Reads of integrations at the same time. */
const READS = 8

/** More overdue checks of an integration are not counted: they would be read. */
const MOST_OVERDUE = 500

/** A refusal that is older was seen, or does not matter. */
const NOTEWORTHY_FOR = Duration.days(1)

/** How integrations are shown: with what their agents have. */
export const shownIntegrations = (storage: Storage["Service"], sha256: (text: string) => string) => {
  const show = Effect.fnUntraced(function* (record: IntegrationRecord) {
    const { kind, last_refusal: message, last_refused_at: at, last_request_at, name, options } = record
    const agent = yield* storage.agent(name)
    const { max_checks = kind === "watch" ? MOST_WATCHES : KINDS[kind].mostChecks, watchdog } = options
    const hasReported =
      watchdog === undefined || (yield* storage.check(name, checkIdOf(watchdog, sha256))) !== undefined
    const shown: Integration = {
      title: record.title ?? null,
      ...Struct.pick(record, ["name", "kind", "options", "created_at", "created_by"]),
      is_closed: record.key_hash === undefined,
      last_request_at: last_request_at ?? null,
      last_refusal: at === undefined || message === undefined ? null : { at, message },
      sources: record.sources.map(({ heard_at, source }) => ({
        source,
        heard_at: Instant.fromMicros(BigInt(heard_at)),
      })),
      checks: agent === undefined ? 0 : checkCount(agent),
      max_checks,
      overdue: (yield* firstRows(
        storage,
        { list: "overdue", filter: { agent_id: name }, sort: "agent_id", direction: "asc" },
        MOST_OVERDUE,
      )).length,
      awaited_watchdog: hasReported ? null : watchdog,
    }
    return shown
  })
  /** Shows those of a kind that this version knows. */
  const showAll = (records: ReadonlyArray<IntegrationRecord>) =>
    Effect.forEach(
      records.filter(({ kind }) => isKnownKind(kind)),
      show,
      { concurrency: READS },
    )
  const those = (isWanted: (shown: Integration) => boolean) =>
    Effect.gen(function* () {
      const found: Array<Integration> = []
      yield* eachPage(storage, ALL_INTEGRATIONS, (rows) =>
        Effect.map(showAll(rows), (all) => void found.push(...all.filter(isWanted))),
      )
      return found
    })
  const nearlyFull = those(isNearlyFull)
  /** Those that soon refuse new checks, or refused some of what they were sent in the last day. */
  const noteworthy = Effect.flatMap(Instant.now, (now) =>
    those(
      (shown) =>
        isNearlyFull(shown) ||
        (shown.last_refusal !== null && Instant.isRecent(shown.last_refusal.at, NOTEWORTHY_FOR, now)),
    ),
  )
  /** Those that take mails. */
  const ofMail = those(({ kind }) => kind === "mail")
  /** The rows of kinds that a later version has stored. */
  const unknown = Effect.gen(function* () {
    const found: Array<IntegrationRecord> = []
    yield* eachPage(storage, ALL_INTEGRATIONS, (rows) => {
      found.push(...rows.filter(({ kind }) => !isKnownKind(kind)))
    })
    return found
  })
  const fullness = Effect.map(nearlyFull, (all) => [
    several(
      integrationsMetrics.integrationFullness,
      all.map(({ checks, max_checks, name }) => [[name], checks / max_checks]),
    ),
  ])
  return { fullness, nearlyFull, noteworthy, ofMail, show, showAll, unknown }
}
