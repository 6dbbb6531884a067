import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/core/contract/Instant"
import { PolicyDocument } from "@tocsin/core/policy/PolicyDocument"
import { simulate } from "@tocsin/core/simulation/simulate"
import { SimulationReport, type SimulationSettings } from "@tocsin/core/simulation/SimulationReport"
import { Duration, Schema } from "effect"

const ports = { sha256: (text: string) => text.length.toString(16).padStart(64, "0") }

const at = (seconds: number): string =>
  Instant.format(Instant.fromMillis(1_769_848_200_000 + seconds * 1_000))
const heartbeat = (seconds: number, agent_id = "web-1") => ({
  agent_id,
  observed_at: at(seconds),
  hostname: `${agent_id}.example`,
  features: { push: true, metrics: false },
  received_at: at(seconds),
})
const event = (n: number, seconds: number, status: "ok" | "warning" | "critical", check_id = "disk") => ({
  event_id: `01890a5d-ac96-774b-bcce-${n.toString(16).padStart(12, "0")}`,
  check_id,
  observed_at: at(seconds),
  status,
  exit_code: status === "ok" ? 0 : 2,
  duration_ms: 1,
  output: `disk is ${status}`,
})
const batch = (seconds: number, ...events: ReadonlyArray<object>) => ({
  agent_id: "web-1",
  events,
  received_at: at(seconds),
})

const run = (lines: Iterable<unknown>, settings: SimulationSettings = {}) =>
  Schema.encodeSync(SimulationReport)(simulate(lines, settings, ports))

const policyOf = (document: object): PolicyDocument => Schema.decodeUnknownSync(PolicyDocument)(document)

/** Notifications in short. */
const told = ({ notifications }: ReturnType<typeof run>) =>
  notifications.map(({ at: moment, event_type, incident_key, severity }) => [
    moment,
    event_type,
    incident_key,
    severity,
  ])

describe("a simulation", () => {
  it("reads heartbeats and batches with their time of receipt", () => {
    const report = run([
      JSON.stringify(heartbeat(0)),
      "",
      JSON.stringify(batch(60, event(1, 60, "warning"))),
      JSON.stringify(batch(90, event(2, 90, "critical"))),
      JSON.stringify(batch(120, event(3, 120, "ok"))),
    ])
    assert.deepStrictEqual(told(report), [
      [at(60), "firing", "web-1/disk", "warning"],
      [at(90), "firing", "web-1/disk", "critical"],
      [at(120), "resolved", "web-1/disk", "critical"],
    ])
    assert.deepStrictEqual(
      report.incidents.map(({ incident_key, state, opened_at, resolved_at, timeline }) => ({
        incident_key,
        state,
        opened_at,
        resolved_at,
        changes: timeline.map(({ change }) => change),
      })),
      [
        {
          incident_key: "web-1/disk",
          state: "resolved",
          opened_at: at(60),
          resolved_at: at(120),
          changes: ["joined", "worsened", "left"],
        },
      ],
    )
    const { agents, heartbeats, results, changes, refused, from, until } = report
    assert.deepStrictEqual(
      { agents, heartbeats, results, changes, refused, from, until },
      { agents: 1, heartbeats: 1, results: 3, changes: 3, refused: [], from: at(0), until: at(120) },
    )
  })

  it("reads stored results in the order of any list", () => {
    const stored = [
      { ...event(1, 0, "critical"), agent_id: "web-1", received_at: at(0) },
      { ...event(2, 0, "ok"), agent_id: "web-1", received_at: at(0) },
      { ...event(3, 60, "critical"), agent_id: "web-1", received_at: at(60) },
    ]
    const expected = [[at(60), "firing", "web-1/disk", "critical"]]
    // The first two arrived as one batch, so nobody was notified before it ended.
    assert.deepStrictEqual(told(run(stored)), expected)
    assert.deepStrictEqual(told(run(stored.toReversed())), expected)
    assert.deepStrictEqual(told(run([{ items: stored.toReversed() }])), expected)
    const [newest, ...others] = stored.toReversed()
    assert.deepStrictEqual(told(run([{ items: [newest] }, { items: others }])), expected)
  })

  it("counts an agent's silence from its heartbeats, until the end of the recording", () => {
    const lines = [heartbeat(0), heartbeat(0, "web-2"), heartbeat(280, "web-2")]
    assert.deepStrictEqual(told(run(lines)), [])
    const until = Instant.fromMillis(1_769_848_200_000 + 302_000)
    const short = run(lines, { until })
    assert.deepStrictEqual(told(short), [[at(300), "firing", "web-1/@heartbeat", "critical"]])
    assert.strictEqual(short.until, at(302))
    const sooner = run([...lines, heartbeat(290)], { deadAfter: Duration.seconds(101) })
    assert.deepStrictEqual(told(sooner), [
      [at(105), "firing", "web-1/@heartbeat", "critical"],
      [at(105), "firing", "web-2/@heartbeat", "critical"],
      [at(280), "resolved", "web-2/@heartbeat", "critical"],
      [at(290), "resolved", "web-1/@heartbeat", "critical"],
    ])
  })

  it("ignores the silence of agents that sent only results", () => {
    const report = run([batch(0, event(1, 0, "ok")), batch(86_400, event(2, 86_400, "ok", "load"))])
    assert.deepStrictEqual([report.agents, report.incidents], [1, []])
  })

  it("uses an agent's fields from its first heartbeat on", () => {
    const lines = [batch(0, event(1, 0, "ok")), heartbeat(10), heartbeat(400, "web-2")]
    assert.deepStrictEqual(
      run(lines).incidents.map(({ summary }) => summary),
      ["no contact with web-1 (web-1.example)"],
    )
  })

  it("notifies each configured notifier, or none", () => {
    const lines = [heartbeat(0), batch(1, event(1, 1, "critical"))]
    const both = run(lines, { notifiers: ["webhook", "messenger"] })
    assert.deepStrictEqual(both.notifications.map(({ notifier }) => notifier).toSorted(), [
      "messenger",
      "webhook",
    ])
    const silent = run(lines, { notifiers: [] })
    assert.deepStrictEqual([silent.notifications.length, silent.incidents.length], [0, 1])
  })

  it("skips lines that it cannot read, with their number and a reason", () => {
    const report = run([
      "{",
      "[]",
      "{}",
      JSON.stringify({ ...heartbeat(0), received_at: undefined }),
      JSON.stringify({ ...heartbeat(0), received_at: "yesterday" }),
      JSON.stringify({ ...heartbeat(0), hostname: "" }),
      "  \t",
      JSON.stringify(batch(0, { ...event(1, 0, "ok"), status: "fine" })),
      JSON.stringify({ ...event(1, 0, "ok"), agent_id: "web 1", received_at: at(0) }),
      JSON.stringify({ items: [{ ...event(1, 0, "ok"), agent_id: "web-1" }] }),
      JSON.stringify(heartbeat(5)),
    ])
    assert.deepStrictEqual(
      report.refused.map(({ line }) => line),
      [1, 2, 3, 4, 5, 6, 8, 9, 10],
    )
    const reasons = report.refused.map(({ reason }) => reason)
    assert.match(reasons[0] ?? "", /must be valid JSON/)
    assert.match(reasons[2] ?? "", /must be a heartbeat .* or a page/)
    assert.match(reasons[4] ?? "", /^received_at must be the time of receipt/)
    assert.match(reasons[5] ?? "", /^hostname must be/)
    assert.match(reasons[6] ?? "", /^events\[0\]\.status must be one of ok, warning, critical, unknown/)
    assert.match(reasons[7] ?? "", /^agent_id must be/)
    assert.match(reasons[8] ?? "", /^items\[0\]: received_at is missing/)
    assert.strictEqual(report.heartbeats, 1)
  })

  it("holds firings while an incident is acknowledged, and states for how long and why", () => {
    const acknowledge = { by: "anna", for: "10m" }
    const report = run([
      batch(0, event(1, 0, "critical"), event(2, 0, "critical", "load")),
      { incident_key: "web-1/disk", received_at: at(10), acknowledge },
      { incident_key: "web-1/load", received_at: at(10), acknowledge },
      // The acknowledgement of the other incident runs out.
      { incident_key: "web-1/disk", received_at: at(310), withdraw: {} },
      batch(900, event(3, 900, "ok", "load")),
    ])
    assert.deepStrictEqual(report.refused, [])
    assert.deepStrictEqual(
      report.notifications.map(({ at: moment, cause, held_by, held_for_seconds, incident_key, receiver }) => [
        moment,
        receiver,
        cause,
        incident_key,
        held_for_seconds,
        held_by,
      ]),
      [
        [at(0), "debug", "opened", "web-1/disk", 0, []],
        [at(0), "debug", "opened", "web-1/load", 0, []],
        [at(610), "debug", "ack_ran_out", "web-1/load", 0, []],
        [at(900), "debug", null, "web-1/load", 0, []],
      ],
    )
    assert.deepStrictEqual(report.unsent, [])
  })

  it("follows the routes, steps and reminders of a policy", () => {
    const policy = policyOf({
      routes: [
        {
          match: ["check_id = disk"],
          steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }],
          remind: "1h",
        },
      ],
    })
    const lines = [batch(0, event(1, 0, "critical")), batch(60, event(2, 60, "ok", "load"))]
    const until = Instant.fromMillis(1_769_848_200_000 + 7_300_000)
    const report = run(lines, { policy, notifiers: ["chat", "pager"], until })
    assert.deepStrictEqual(
      report.notifications.map(({ at: moment, cause, receiver }) => [moment, receiver, cause]),
      [
        [at(0), "chat", "opened"],
        [at(900), "pager", "escalation"],
        [at(3_600), "chat", "reminder"],
        [at(4_500), "pager", "reminder"],
        [at(7_200), "chat", "reminder"],
      ],
    )
  })

  it("names the lines of acts that are impossible, and what to do", () => {
    const report = run([
      batch(0, event(1, 0, "critical")),
      { incident_key: "web-1/load", received_at: at(1), acknowledge: {} },
      { incident_key: "web-1/disk", received_at: at(1), acknowledge: { severity: "warning" } },
      { incident_key: "web-1/disk", received_at: at(1), acknowledge: { for: "30d" } },
      { incident_key: "web-1/disk", received_at: at(1), withdraw: {} },
      { incident_key: "web-1/disk", received_at: at(1), acknowledge: { fro: "1h" } },
      { received_at: at(1), withdraw: {} },
    ])
    const [unknown, other, long, absent, misspelt, unnamed] = report.refused
    assert.deepStrictEqual(
      report.refused.map(({ line }) => line),
      [2, 3, 4, 5, 6, 7],
    )
    assert.match(
      unknown?.reason ?? "",
      /^no incident of web-1\/load is open at .*: acknowledge it while it is open$/,
    )
    assert.match(
      other?.reason ?? "",
      /^the severity of web-1\/disk is critical at .*: name this one, or none$/,
    )
    assert.match(long?.reason ?? "", /must not last longer than SERVICE_ACK_MAX/)
    assert.match(absent?.reason ?? "", /^no open incident of web-1\/disk is acknowledged at /)
    assert.match(misspelt?.reason ?? "", /^acknowledge\.fro/)
    assert.match(unnamed?.reason ?? "", /^incident_key is missing/)
  })

  it("has no more fields than before without a policy and without acts", () => {
    const report = run([batch(0, event(1, 0, "critical"))])
    assert.notProperty(report, "unsent")
    assert.notProperty(report.notifications[0], "receiver")
  })

  it("is empty without input", () => {
    const report = run([])
    assert.deepStrictEqual([report.from, report.until, report.incidents], [null, null, []])
  })

  it("is the same each time", () => {
    const lines = [heartbeat(0), batch(1, event(1, 1, "critical")), batch(2, event(2, 2, "ok"))]
    assert.deepStrictEqual(run(lines), run(lines))
  })

  it("hashes an automatic incident key that would be too long", () => {
    const long = "x".repeat(128)
    const lines = [{ ...batch(0, { ...event(1, 0, "critical"), check_id: long }), agent_id: long }]
    assert.match(run(lines).incidents[0]?.incident_key ?? "", /^sha256:0+101$/)
  })
})
