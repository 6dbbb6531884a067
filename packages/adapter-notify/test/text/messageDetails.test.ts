import { assert, describe, it } from "@effect/vitest"
import { lastOutput } from "@tocsin/contract/formats/outputText"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { AgentId, CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { plain } from "@tocsin/core/heart/notifications/cutText"
import { incidentText } from "@tocsin/core/heart/notifications/incidentText"
import { decideDetails } from "@tocsin/core/heart/notifications/messageDetails"
import type { LastResult } from "@tocsin/core/kernel/model/LastResult"
import type { DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import { agentRecord, incidentIdOf, memberRecord } from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import { Duration } from "effect"
import { firing } from "../notifications.ts"

const agent = agentRecord("web-1")
const member = memberRecord({ incident: "x", agent: "web-1", check: "disk" })
const last: LastResult = {
  incident_id: incidentIdOf("x"),
  status: "critical",
  output: "97 %",
  changed_at: start,
  duration_ms: undefined,
  address: undefined,
}

const decide = (
  result: Partial<LastResult>,
  labels: Labels | undefined = undefined,
  runbook: DeliveryAttempt["runbook"] = undefined,
) => decideDetails({ member, agent, labels }, { ...last, ...result }, runbook)

describe("the details of a check", () => {
  it("have at most ten labels, of 500 characters together, by name", () => {
    const many = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`l${String(n).padStart(2, "0")}`, "v"]),
    )
    assert.deepStrictEqual(Object.keys(decide({}, many).labels), Object.keys(many).slice(0, 10))
    const long = { c: "x", a: "ä".repeat(256), b: "y".repeat(256) }
    assert.deepStrictEqual(decide({}, long).labels, { a: long.a, c: "x" })
    assert.deepStrictEqual(decide({}).labels, {})
  })

  it("leave out the label that is the runbook", () => {
    const labels = { runbook_url: "https://wiki/disk", team: "db" }
    assert.deepStrictEqual(decide({}, labels, { url: "https://wiki/disk" }).labels, { team: "db" })
    assert.deepStrictEqual(decide({}, labels).labels, labels)
  })

  it("have the output without sequences, controls and blank lines", () => {
    const output = "\u001b[31mred\u001b[0m\r\n\n \u0007\n10 %\r20 %\u0000\u202e!\n  indented"
    assert.strictEqual(decide({ output }).output, "red\n10 %\n20 % !\nindented")
    assert.strictEqual(decide({ output: undefined }).output, "")
  })

  it("say since when, how long, and whether the status is another one", () => {
    const shown = decide({ duration_ms: 1_500, status: "ok", changed_at: undefined })
    assert.deepStrictEqual(
      [shown.since, shown.duration_seconds, shown.last_status],
      [member.joined_at, 1.5, "ok"],
    )
    assert.isUndefined(decide({ duration_ms: 0 }).duration_seconds)
    assert.isUndefined(decide({}).last_status)
  })
})

/** The lines that the details of a result add to the text of a firing. */
const added = (
  result: Partial<LastResult>,
  {
    labels,
    notification = firing,
    limit = 10_000,
  }: {
    readonly labels?: Labels
    readonly notification?: DeliveryAttempt
    readonly limit?: number
  } = {},
) => {
  const medium = { limit, escape: plain }
  const { opened_at: changed_at } = notification.incident
  const details = decide({ changed_at, ...result }, labels)
  const own = incidentText(notification, medium)
  const text = incidentText({ ...notification, details }, medium)
  assert.isTrue(text.startsWith(own), text)
  assert.isAtMost(text.length, limit)
  return text.slice(own.length)
}

describe("the text of details", () => {
  it("of a failed backup has the error, and its end where it is long", () => {
    const pgDump = Array.from({ length: 200 }, (_, n) => `pg_dump: dumping table ${n}`)
    const error = "pg_dump: error: connection to server failed: FATAL: too many clients"
    const { output = "" } = lastOutput([...pgDump, error, "exiting"].join("\n"), { end: "exit 1" })
    const notification = { ...firing, summary: "exit 1: exiting" }
    const text = added({ output }, { notification })
    assert.match(text, /\n> pg_dump: error: connection to server failed: FATAL: too many clients\n> exiting$/)
    assert.match(text, /^\n\n> …/)
    assert.isAtMost(Array.from(text.replaceAll("\n> ", "\n")).length, 1_002)
    assert.isTrue(
      text
        .slice(2)
        .split("\n")
        .every((line) => line.startsWith("> ")),
    )
    const short = lastOutput(`${error}\nexiting`, { end: "exit 1" }).output
    assert.strictEqual(added({ output: short }, { notification }), `\n\n> ${error}\n> exiting`)
    const one = lastOutput("exiting", { end: "exit 1" }).output
    assert.strictEqual(added({ output: one }, { notification }), "")
  })

  it("of an alert of Prometheus has instance, description and source", () => {
    const labels = { alertname: "HighLatency", instance: "api-3:9090", job: "api", severity: "page" }
    const output =
      "p99 is 2.3 s\nThe 99th percentile of /checkout is above 1 s for 5 min.\nstarted 2026-01-31 08:25:00 UTC"
    const address = "http://prom.example.org:9090/graph?g0.expr=histogram_quantile%280.99%29&g0.tab=1"
    assert.strictEqual(
      added({ output, address }, { labels, notification: { ...firing, summary: "p99 is 2.3 s" } }),
      [
        "",
        "",
        "Labels: alertname=HighLatency, instance=api-3:9090, job=api, severity=page",
        `Source: ${address}`,
        "> The 99th percentile of /checkout is above 1 s for 5 min.",
        "> started 2026-01-31 08:25:00 UTC",
      ].join("\n"),
    )
  })

  it("of output that is the summary alone is nothing", () => {
    assert.strictEqual(added({ output: "/var is 97 % full" }), "")
    assert.strictEqual(added({ output: "/var is 98 % full" }), "\n\n> /var is 98 % full")
    assert.strictEqual(added({ output: undefined, duration_ms: 20 }), "\n\nThe check took 20 ms")
  })

  it("leaves out the performance data of a plugin, and the headline before its other lines", () => {
    const notification = { ...firing, summary: "DISK CRITICAL - /var 97 %" }
    const shown = (output: string) => added({ output }, { notification })
    assert.strictEqual(shown("DISK CRITICAL - /var 97 % | /var=97%;80;90 time=1.891438s"), "")
    assert.strictEqual(shown("DISK CRITICAL - /var 97 % | /var=97% time=1...[truncated 12 bytes]"), "")
    assert.strictEqual(
      shown("DISK CRITICAL - /var 97 %|/var=97%\n  /var/log 61 GiB | 'log'=61GB\n| a=1\na | b"),
      "\n\n> /var/log 61 GiB\n> a | b",
    )
    const { output } = lastOutput("DISK CRITICAL | /var=97%", { end: "exit 2" })
    assert.strictEqual(added({ output }), "")
  })

  it("names the check of several, and when its status changed", () => {
    const changed_at = Instant.plus(firing.incident.opened_at, Duration.minutes(5))
    const since = "since 2026-01-31 08:35:00 UTC"
    assert.strictEqual(added({ output: undefined, changed_at }), `\n\nCritical ${since}`)
    const incident_key = IncidentKey.make("shop")
    const incident = {
      ...firing.incident,
      incident_key,
      members: 3,
      agent_id: undefined,
      check_id: undefined,
    }
    assert.strictEqual(
      added({ output: undefined, changed_at, duration_ms: 3_000 }, { notification: { ...firing, incident } }),
      `\n\nweb-1/disk: critical ${since}, the check took 3 s`,
    )
  })

  it("says of a late check what its last result was, and nothing else of it", () => {
    const overdue = { ...firing, summary: "no result since 03:00" }
    assert.strictEqual(
      added({ output: "Backup of 3 GiB done", status: "ok" }, { notification: overdue }),
      "\n\nLast result, before it was late: ok\n> Backup of 3 GiB done",
    )
    // How long that took, and since when it is what it is, the message is not about.
    const changed_at = Instant.plus(firing.incident.opened_at, Duration.minutes(5))
    const incident = { ...firing.incident, incident_key: IncidentKey.make("web-1/@overdue"), members: 3 }
    assert.strictEqual(
      added(
        { output: "97 %", status: "critical", duration_ms: 250, changed_at },
        { notification: { ...overdue, incident } },
      ),
      "\n\n> 97 %",
    )
    assert.strictEqual(
      added({ output: "97 %", status: "ok", duration_ms: 250 }, { notification: overdue }),
      "\n\nLast result, before it was late: ok\n> 97 %",
    )
  })

  it.each([400, 300, 220, 190, 172, 160])("is cut before the summary: in %i characters", (limit) => {
    const result = { output: `first\n${"x".repeat(300)}`, address: `https://prom/${"y".repeat(100)}` }
    added(result, { labels: { a: "1".repeat(40), b: "2".repeat(40) }, limit })
  })

  it("escapes what agents say, and not a plain address", () => {
    const escape = (text: string) => text.replaceAll(/[*:&]/g, "!")
    const notification = { ...firing, agent_id: AgentId.make("a"), check_id: CheckId.make("b") }
    const shown = (address: string) =>
      incidentText(
        { ...notification, details: decide({ output: "*a*\n*b*", address }, { "x:y": "*" }) },
        { limit: 9_000, escape, quote: "| " },
      )
    assert.include(shown("https://prom/?a=1&b"), "\nLabels! x!y=!\nSource: https://prom/?a=1&b\n| !a!\n| !b!")
    assert.include(shown("https://prom/*"), "\nSource: https!//prom/!\n")
  })
})
