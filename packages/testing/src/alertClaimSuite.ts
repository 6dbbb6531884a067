import { assert, describe, it } from "@effect/vitest"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { claimAlerts } from "@tocsin/core/heart/notifications/alertDecisions"
import type { AlertRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { Duration, Effect } from "effect"
import { search } from "./observe.ts"
import { after, FAR_OFF, LONG_AGO, openWith } from "./outboxItems.ts"
import { race } from "./race.ts"
import { ALERT_RECEIVERS, alertRecord, incidentIdOf, incidentRecord, write } from "./records.ts"
import { start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"
import { range } from "./numbers.ts"

/** Which alerts of a receiver can be claimed, each by one process (docs/rules.md#alertmanager). */
export const alertClaimSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("claims of alerts", () => {
    it.effect(
      "find those of a receiver that are due without a lease, longest due first, with their incidents",
      () =>
        Effect.gen(function* () {
          const replica = yield* openWith(subject, [])
          yield* write(replica, [], (unit) => {
            for (const name of ["a", "b", "c", "d", "e"]) unit.incidents.put(incidentRecord(name))
            for (const receiver of ALERT_RECEIVERS) {
              const put = (incident: string, changes: Partial<AlertRecord>) =>
                unit.alerts.put(alertRecord(incident, { receiver, ...changes }))
              put("a", { next_at: start })
              put("a", { severity: "warning", next_at: after(-9), ended_at: start })
              put("b", { next_at: after(-5), leased_until: LONG_AGO })
              put("c", { next_at: after(-60), leased_until: FAR_OFF })
              put("d", { next_at: after(1) })
            }
            unit.alerts.put(alertRecord("e", { receiver: "third_router", next_at: start }))
          })
          const found = (receiver: NotifierName, limit: number) =>
            search(replica, "claimableAlerts", { receiver, limit }, ({ due }) =>
              due.map(({ row, incident }) => [row.receiver, row.severity, incident.id]),
            )
          for (const receiver of ALERT_RECEIVERS) {
            const all = [
              [receiver, "warning", incidentIdOf("a")],
              [receiver, "critical", incidentIdOf("b")],
              [receiver, "critical", incidentIdOf("a")],
            ]
            assert.deepStrictEqual(yield* found(receiver, 10), all)
            assert.deepStrictEqual(yield* found(receiver, 2), all.slice(0, 2))
          }
        }),
    )

    race(subject, { name: "an alert is claimed by one client" }, (replica) =>
      Effect.gen(function* () {
        const incidents = range(20).map((n) => `incident ${n}`)
        yield* write(replica(0), [], (unit) => {
          for (const name of incidents) {
            unit.incidents.put(incidentRecord(name))
            for (const receiver of ALERT_RECEIVERS)
              unit.alerts.put(alertRecord(name, { receiver, next_at: LONG_AGO }))
          }
        })
        const claim = (n: number, receiver: NotifierName) =>
          transact(replica(n).storage, claimAlerts({ receiver, limit: 6, lease: Duration.hours(1) }))
        for (const receiver of ALERT_RECEIVERS) {
          const workers = range(8).map((n) => Effect.forEach(range(4), () => claim(n, receiver)))
          const claimed = (yield* Effect.all(workers, { concurrency: "unbounded" })).flat(2)
          assert.deepStrictEqual(
            claimed.map(({ alert }) => alert.incident_id).toSorted(),
            incidents.map(incidentIdOf).toSorted(),
          )
        }
      }),
    )
  })
}
