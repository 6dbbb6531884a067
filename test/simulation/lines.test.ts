import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { simulate } from "@tocsin/simulation/simulate"
import { SimulationReport, type SimulationSettings } from "@tocsin/simulation/SimulationReport"
import { Duration, Schema } from "effect"

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
  Schema.encodeSync(SimulationReport)(simulate(lines, settings))

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

  it("takes lines of any year", () => {
    const zero = { ...heartbeat(0), received_at: "0001-01-01T00:00:00Z" }
    const early = { ...batch(0, event(1, 0, "critical")), received_at: "0001-01-01T00:00:30Z" }
    const [notified] = run([zero, early]).notifications
    assert.strictEqual(notified?.at, "0001-01-01T00:00:30.000Z")
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

  it("lets agents die before they would be stale by the usual settings, and be parents from then on", () => {
    const parent = ["incident_key glob */@heartbeat"]
    const policy = policyOf({ dependencies: [{ parent, child: ["check_id = disk"], equal: ["hostname"] }] })
    const lines = [heartbeat(0), batch(60, event(1, 60, "critical")), heartbeat(400, "web-2")]
    assert.deepStrictEqual(told(run(lines, { policy, deadAfter: Duration.seconds(70) })), [
      [at(60), "firing", "web-1/disk", "critical"],
      [at(130), "firing", "web-1/@heartbeat", "critical"],
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
      ["no contact with web-1 (web-1.example) since 2026-01-31 08:30:10 UTC"],
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
    assert.match(
      long?.reason ?? "",
      /must not make the acknowledgement longer than 7d \(SERVICE_ACK_MAX, or longestAcknowledgement in a program\)/,
    )
    assert.match(absent?.reason ?? "", /^no open incident of web-1\/disk is acknowledged at /)
    assert.match(misspelt?.reason ?? "", /^acknowledge\.fro/)
    assert.match(unnamed?.reason ?? "", /^incident_key is missing/)
  })

  it("takes silences by their names: added, extended, expired", () => {
    const matchers = [{ field: "check_id", op: "=", value: "disk" }]
    const opened = (n: number, seconds: number) => batch(seconds, event(n, seconds, "critical"))
    const resolved = (n: number, seconds: number) => batch(seconds, event(n, seconds, "ok"))
    const report = run([
      { silence: "move", received_at: at(0), add: { matchers, for: "1m", comment: "moving", by: "anna" } },
      opened(1, 10),
      { silence: "move", received_at: at(30), extend: { ends_at: at(3_600) } },
      resolved(2, 90),
      opened(3, 100),
      { silence: "move", received_at: at(130), expire: {} },
      resolved(4, 200),
      {
        silence: "later",
        received_at: at(200),
        add: { matchers, starts_at: at(300), ends_at: at(400), comment: "c" },
      },
      opened(5, 250),
      resolved(6, 290),
      opened(7, 310),
      batch(500, event(8, 500, "ok", "load")),
    ])
    assert.deepStrictEqual(report.refused, [])
    assert.deepStrictEqual(
      report.notifications.map(({ at: moment, event_type, held_by, held_for_seconds }) => [
        moment,
        event_type,
        held_for_seconds,
        held_by,
      ]),
      [
        // Work that is due is done every 5 s.
        [at(135), "firing", 35, ["silence:move"]],
        [at(200), "resolved", 0, []],
        [at(250), "firing", 0, []],
        [at(290), "resolved", 0, []],
        [at(400), "firing", 90, ["silence:later"]],
      ],
    )
    assert.deepStrictEqual(
      report.unsent?.map(({ at: moment, held_by, reason }) => [moment, reason, held_by]),
      [[at(90), "resolved", ["silence:move"]]],
    )
  })

  it("resumes reminders when a silence is expired", () => {
    const policy = policyOf({ routes: [{ remind: "15m" }] })
    const matchers = [{ field: "incident_key", op: "=", value: "web-1/disk" }]
    const lines = [
      batch(0, event(1, 0, "critical")),
      { silence: "s", received_at: at(60), add: { matchers, for: "8h", comment: "c" } },
      { silence: "s", received_at: at(1_800), expire: {} },
      batch(1_860, event(2, 1_860, "ok", "load")),
    ]
    assert.deepStrictEqual(
      run(lines, { policy }).notifications.map(({ at: moment, cause }) => [moment, cause]),
      [
        [at(0), "opened"],
        [at(1_805), "reminder"],
      ],
    )
  })

  it("frees every firing of a storm at once", () => {
    const count = 5_001
    const matchers = [{ field: "agent_id", op: "=", value: "web-1" }]
    const storm = Array.from({ length: count }, (_, n) => event(n, 10, "critical", `disk-${n}`))
    const report = run([
      { silence: "s", received_at: at(0), add: { matchers, for: "8h", comment: "c" } },
      ...Array.from({ length: 26 }, (_, n) => batch(10, ...storm.slice(n * 200, (n + 1) * 200))),
      { silence: "s", received_at: at(60), expire: {} },
      batch(600, event(count, 600, "ok", "load")),
    ])
    assert.deepStrictEqual(report.refused, [])
    assert.lengthOf(
      report.notifications.filter(({ at: moment }) => moment === at(65)),
      count,
    )
  })

  it("counts the openings of a key that flaps, though incidents have resolved", () => {
    const policy = policyOf({ routes: [{ flapping: { openings: 3, within: "1h", after: "10m" } }] })
    const flaps = [0, 1, 2].flatMap((n) => [
      batch(n * 60, event(2 * n + 1, n * 60, "critical")),
      batch(n * 60 + 30, event(2 * n + 2, n * 60 + 30, "ok")),
    ])
    const report = run([...flaps, batch(7_200, event(9, 7_200, "critical"))], { policy })
    assert.deepStrictEqual(
      report.notifications.map(({ at: moment, event_type }) => [moment, event_type]),
      [
        [at(0), "firing"],
        [at(30), "resolved"],
        [at(60), "firing"],
        [at(90), "resolved"],
        [at(7_200), "firing"],
      ],
    )
    assert.deepStrictEqual(
      report.unsent?.map(({ at: moment, held_by }) => [moment, held_by]),
      [[at(150), ["after"]]],
    )
  })

  it("takes overrides of rotas by their names: created, ended", () => {
    const policy = policyOf({
      rotas: { primary: { order: ["ann", "bob"], every: "31d", from: "2026-01-20T00:00" } },
      routes: [{ to: ["primary"] }],
    })
    const create = { rota: "primary", receivers: ["bob"], to: at(3_600) }
    const lines = [
      batch(0, event(1, 0, "critical")),
      { override: "a", received_at: at(50), end: {} },
      { override: "a", received_at: at(60), create: { ...create, by: "bob", note: "Ann is away" } },
      { override: "a", received_at: at(61), create },
      { override: "b", received_at: at(62), create: { ...create, to: at(3_000_000) } },
      { override: "b", received_at: at(62), create: { ...create, rota: "secondary" } },
      { override: "b", received_at: at(62), create: { ...create, receivers: ["bob", "cleo"] } },
      { override: "a", received_at: at(600), end: { by: "ann" } },
      batch(900, event(2, 900, "critical", "load")),
      { override: "a", received_at: at(901), end: {} },
    ]
    const report = run(lines, { policy, notifiers: ["ann", "bob"] })
    assert.deepStrictEqual(
      report.notifications.map(({ at: moment, cause, incident_key, receiver }) =>
        [moment, receiver, cause, incident_key].join(" "),
      ),
      [
        `${at(0)} ann opened web-1/disk`,
        `${at(65)} bob opened web-1/disk`,
        `${at(605)} ann handover web-1/disk`,
        `${at(900)} ann opened web-1/load`,
      ],
    )
    assert.deepStrictEqual(
      report.refused.map(({ line, reason }) => `${line} ${reason}`),
      [
        "2 no line before creates an override that is named a: create it first",
        "4 a line before creates an override that is named a: choose another name",
        "5 to must be at most 31 days after from; create another override for the rest",
        "6 the policy lacks secondary: add that",
        "7 the policy lacks cleo: add that",
        `10 the override a has ended before ${at(901)}: create another one`,
      ],
    )
  })

  it("names the lines about silences that are impossible, and what to do", () => {
    const matchers = [{ field: "check_id", op: "=", value: "disk" }]
    const add = { matchers, for: "1m", comment: "c" }
    const report = run([
      batch(0, event(1, 0, "ok")),
      { silence: "a", received_at: at(1), expire: {} },
      { silence: "a", received_at: at(2), add: { ...add, for: "60d" } },
      { silence: "a", received_at: at(2), add: { matchers, comment: "c" } },
      { silence: "a", received_at: at(3), add },
      { silence: "a", received_at: at(4), add },
      { silence: "a", received_at: at(5), extend: { ends_at: at(4) } },
      { silence: "a", received_at: at(5), extend: { ends_at: at(5_000_000) } },
      { silence: "a", received_at: at(100), extend: { ends_at: at(200) } },
      { silence: "a", received_at: at(100), expire: {} },
      { silence: "b", received_at: at(100), add: { ...add, matchers: [] } },
      { received_at: at(100), add },
      { silence: "b", received_at: at(100) },
    ])
    const expected: ReadonlyArray<readonly [number, RegExp]> = [
      [2, /^no line before adds a silence that is named a: add it first$/],
      [3, /must not make the silence longer than 30d \(SERVICE_SILENCE_MAX, /],
      [4, /^ends_at or for is missing/],
      [6, /^a line before adds a silence that is named a: choose another name$/],
      [7, /^ends_at must be in the future; expire the silence to end it now$/],
      [8, /must not make the silence longer than 30d \(SERVICE_SILENCE_MAX, /],
      [9, /^the silence a has ended before .*: add another one$/],
      [10, /^the silence a has ended before .*: add another one$/],
      [11, /^add\.matchers must hold at least one matcher/],
      [12, /^silence is missing/],
      [
        13,
        /^a line must be a heartbeat .*, an act of a person \(acknowledge, withdraw; add, extend, expire; create, end\), or an/,
      ],
    ]
    assert.deepStrictEqual(
      report.refused.map(({ line }) => line),
      expected.map(([line]) => line),
    )
    for (const [index, [, reason]] of expected.entries())
      assert.match(report.refused[index]?.reason ?? "", reason)
  })

  it("sends a held firing when its silence ends, whatever other silences began meanwhile", () => {
    const silence = (name: string, seconds: number, value: string, ends: number) => ({
      silence: name,
      received_at: at(seconds),
      add: { matchers: [{ field: "check_id", op: "=", value }], ends_at: at(ends), comment: "c" },
    })
    const lines = [
      silence("move", 0, "disk", 600),
      batch(10, event(1, 10, "critical")),
      silence("upgrade", 60, "other", 3_600),
      batch(700, event(2, 700, "ok", "load")),
    ]
    assert.deepStrictEqual(told(run(lines)), [[at(600), "firing", "web-1/disk", "critical"]])
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
    assert.strictEqual(run(lines).incidents[0]?.incident_key, `sha256:${hash("sha256", `${long}/${long}`)}`)
  })
})
