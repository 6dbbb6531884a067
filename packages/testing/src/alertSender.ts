import { createHash } from "node:crypto"
import { IntegrationName, type IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { alertsChore } from "@tocsin/core/features/integrations/sweepAlerts"
import { seeIntegrations } from "@tocsin/core/features/integrations/seeIntegrations"
import { NO_LONGER_SENT } from "@tocsin/core/features/integrations/ReportedAlertRecord"
import { overdueChore } from "@tocsin/core/heart/overdue/evaluateExpectations"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"

/** The name of the integration. */
export const NAME = IntegrationName.make("prometheus")

/** A hash, as the service makes them. */
export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** An integration that takes alerts, with its key. */
export interface Site {
  readonly replica: Replica
  readonly key: Redacted.Redacted
}

/** Creates the integration. */
export const open = Effect.fnUntraced(function* (replica: Replica, options: IntegrationOptions = {}) {
  const { key } = yield* replica.integrations.create({ name: NAME, kind: "alertmanager", options })
  return { replica, key: Redacted.make(key) } satisfies Site
})

/** An alert of a source; without `lasts`, it has ended. */
const alertOf = (name: string, source: string, now: Instant.Instant, lasts: number | undefined) => ({
  labels: { alertname: name, team: "db" },
  generatorURL: `http://${source}/graph`,
  endsAt: Instant.format(Instant.fromMicros(now + BigInt(lasts ?? -1) * 1_000_000n)),
})

const post = ({ key, replica: { integrations } }: Site, alerts: ReadonlyArray<object>) =>
  Effect.flatMap(integrations.recognise(key), (sender) =>
    integrations.report("alertmanager", sender, {
      method: "POST",
      path: ["api", "v2", "alerts"],
      query: [],
      body: JSON.stringify(alerts),
    }),
  )

/** One request of a source with these alerts. */
export const sends = Effect.fnUntraced(function* (
  site: Site,
  source: string,
  names: ReadonlyArray<string>,
  lasts: number | undefined,
) {
  const now = yield* Instant.now
  yield* post(
    site,
    names.map((name) => alertOf(name, source, now, lasts)),
  )
})

/** The service's background work on an integration, once. */
export const sweeps = Effect.fnUntraced(function* ({ commits, incidents, storage }: Replica, name: AgentId) {
  yield* commits.transact(seeIntegrations([name], incidents))
  const services = { storage, commits, rules: defaultRules, pieces: { rows: 100, incidents: 100 } }
  yield* overdueChore(services, incidents).piece
  yield* alertsChore(services, incidents).piece
})

/** Lets time pass, in pieces of at most 30 s unless stated, with the background work. */
export const passes = Effect.fnUntraced(function* (site: Site, seconds: number, piece = 30) {
  for (let left = seconds; left > 0; left -= piece) {
    yield* TestClock.adjust(`${Math.min(left, piece)} seconds`)
    yield* sweeps(site.replica, NAME)
  }
})

/** The alerts by name: their status, and whether they are as last heard. */
export const shown = Effect.fnUntraced(function* ({ replica }: Site) {
  const checks = yield* rowsOf(replica, "checks")
  return Object.fromEntries(
    checks.map(({ check_id, overdue_incident_id, status, summary }) => [
      check_id.slice(0, check_id.lastIndexOf(".")),
      overdue_incident_id === undefined
        ? summary === NO_LONGER_SENT
          ? "lapsed"
          : status
        : `${status} as last heard`,
    ]),
  )
})
