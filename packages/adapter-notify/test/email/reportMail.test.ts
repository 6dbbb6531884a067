import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId, IncidentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Report } from "@tocsin/contract/report/Report"
import type { MonthlyReport } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Queue, Redacted } from "effect"
import { testsFrom } from "@tocsin/testing/testsFrom"
import { email } from "../../src/email/email.ts"
import { reportMail } from "../../src/email/reportMail.ts"
import { testIds } from "../testIds.ts"
import { answer, partsOf, startMailServer } from "./MailServer.ts"

const at = (text: string) => Instant.parse(text) ?? assert.fail(text)
const check = { agent_id: AgentId.make("nas"), check_id: CheckId.make("backup") }
const seconds = { ok: 900, warning: 0, critical: 90, unknown: 0, late: 10, planned: 0, no_data: 0 }

const incident = (n: number): Report["incidents"][number] => ({
  id: IncidentId.make(`0198a600-0000-7000-8000-00000000000${n}`),
  incident_key: IncidentKey.make("nas/<b>"),
  title: n === 1 ? "Backup <of> the shop" : null,
  state: n === 1 ? "resolved" : "open",
  severity: "critical",
  opened_at: at("2026-01-20T23:30:00Z"),
  resolved_at: null,
  resolution: n === 1 ? { reason: "deleted", by: "ann", text: "deleted by ann" } : null,
  duration_seconds: 754,
  acknowledged_by: n === 1 ? "ann" : null,
  acknowledged_after_seconds: n === 1 ? 61 : null,
})

const REPORT: Report = {
  groups: [
    { group: "office", checks: 2, percent: 0.001, warned: true },
    { group: null, checks: 2, percent: 94.5 },
  ],
  worst: [
    {
      ...check,
      title: "Intranet",
      percent: 0,
      seconds: { ...seconds, ok: 0, warning: 60, critical: 0, late: 0 },
    },
    {
      ...check,
      title: "Wiki",
      percent: 0.002,
      seconds: { ...seconds, ok: 60, warning: 2_592_000, critical: 0, late: 0 },
    },
    { ...check, title: "Backup", percent: 90, seconds },
    { ...check, title: null, percent: 100, seconds: { ...seconds, critical: 0, late: 0 } },
  ],
  incidents: [incident(1), incident(2)],
  late: [{ ...check, title: null, from: at("2026-01-30T03:00:00Z"), to: at("2026-01-30T05:00:00Z") }],
  left_out: { incidents: 7, late: 0 },
}

const JANUARY: MonthlyReport = {
  id: "0198a600-0000-7000-8000-000000000009",
  month: "2026-01",
  tz: "Europe/Berlin",
  report: REPORT,
  link: "https://tocsin.example/#/report?month=2026-01",
  recipients: undefined,
}

const served = testsFrom(startMailServer(), it.effect)

const sending = (port: number, to: ReadonlyArray<string>) =>
  email({
    from: "Tocsin <tocsin@example.org>",
    to,
    lang: "de",
    tls: "off",
    timeout: Duration.seconds(15),
    denyPrivateTargets: false,
    url: Redacted.make(`smtp://127.0.0.1:${port}`),
  }).pipe(
    Effect.provide(testIds),
    Effect.flatMap(({ sendReport }) => Effect.fromNullishOr(sendReport)),
  )

describe("the mail with the report of a month", () => {
  it("says in English how available checks were, which were worst, and what happened", () => {
    const { subject, text } = reportMail(JANUARY)
    assert.strictEqual(subject, "Tocsin: Report of January 2026")
    assert.deepStrictEqual(text.split("\n"), [
      "Report of January 2026",
      "",
      "Availability",
      "  warned  2 checks",
      "  94.500 %  2 checks",
      "",
      "Least available checks",
      "  warned  Intranet (nas/backup): warning 1 min",
      "  warned  Wiki (nas/backup): warning 30 d",
      "  90.000 %  Backup (nas/backup): critical 1 min 30 s, late 10 s",
      "",
      "Incidents",
      "  2026-01-21 00:30 CET  Backup <of> the shop: critical, open for 12 min 34 s, deleted by ann, acknowledged by ann after 1 min 1 s",
      "  2026-01-21 00:30 CET  nas/<b>: critical, still open after 12 min 34 s, not acknowledged",
      "  and 7 more",
      "",
      "Late",
      "  2026-01-30 04:00 CET  nas/backup: for 2 h",
      "",
      "https://tocsin.example/#/report?month=2026-01",
      "",
    ])
  })

  it("has the first 20 rows of a list, and none of an empty one", () => {
    const incidents = Array.from({ length: 25 }, () => incident(2))
    const { html, text } = reportMail({
      ...JANUARY,
      link: undefined,
      report: { groups: [], worst: [], incidents, late: [] },
    })
    assert.lengthOf(text.match(/still open/g) ?? [], 20)
    assert.include(text, "\n  and 5 more\n")
    assert.include(text, "\nLate\n  None\n")
    assert.include(html, "nas/&lt;b&gt;: critical")
    assert.notMatch(html, /src=|href=|url\(|<link|<script|<img/i)
  })

  served("arrives with an HTML part, the same ID each time, in English", function* ({ mails, port }) {
    const send = yield* sending(port, ["ops@example.org", "lead@example.org"])
    assert.deepStrictEqual(yield* send(JANUARY), { outcome: "delivered" })
    yield* send({ ...JANUARY, recipients: [{ address: "ops@example.org" }] })
    const [first, second] = [yield* Queue.take(mails), yield* Queue.take(mails)]
    assert.deepStrictEqual(first.recipients, ["ops@example.org", "lead@example.org"])
    assert.deepStrictEqual(second.recipients, ["lead@example.org"])
    for (const { raw } of [first, second]) {
      assert.include(raw, `Message-ID: <${JANUARY.id}@example.org>`)
      assert.include(raw, "Auto-Submitted: auto-generated")
    }
    const [text = "", html = ""] = partsOf(first.raw)
    assert.include(text, "Least available checks")
    assert.include(html, 'lang="en"')
    assert.include(html, "Backup &lt;of&gt; the shop")
  })

  it.effect("is refused or tried again as a notification is", () =>
    Effect.gen(function* () {
      const { port } = yield* startMailServer({
        onRcptTo: (_address, _session, done) => done(answer(550)),
      })
      const send = yield* sending(port, ["ops@example.org"])
      assert.deepInclude(yield* send(JANUARY), { outcome: "refused" })
    }),
  )
})
