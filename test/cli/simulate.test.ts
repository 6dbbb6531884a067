import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { jsonOf, tocsin } from "./tocsin.ts"

const LINES = [
  {
    status: "critical",
    exit_code: 2,
    event_id: "01890a5d-ac96-774b-bcce-000000000001",
    received_at: "2026-01-31T08:30:00Z",
  },
  {
    status: "ok",
    exit_code: 0,
    event_id: "01890a5d-ac96-774b-bcce-000000000002",
    received_at: "2026-01-31T09:30:00Z",
  },
].map((event) =>
  JSON.stringify({
    agent_id: "web-1",
    check_id: "disk",
    observed_at: event.received_at,
    duration_ms: 1,
    ...event,
  }),
)

const recording = Effect.map(scratchFolder, (cwd) => {
  writeFileSync(join(cwd, "history.jsonl"), [...LINES, "no JSON", ""].join("\n"))
  return { cwd, environment: {} }
})

describe("tocsin simulate", () => {
  it.live("draws what would have notified, and reports what it skipped", () =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* tocsin(
        yield* recording,
        "simulate",
        "history.jsonl",
        "--notifier",
        "webhook",
      )
      assert.strictEqual(stderr, "line 3: a line must be valid JSON\n")
      assert.match(stdout, /^web-1\/disk {2}C{88}$/m)
      assert.match(
        stdout,
        /^2026-01-31T08:30:00\.000Z {2}webhook {3}firing {4}opened {2}critical {2}web-1\/disk$/m,
      )
      assert.match(stdout, /^1 incident and 2 notifications from 2 results of 1 agent$/m)
      assert.strictEqual(code, 0)
    }),
  )

  it.live("prints the same as JSON", () =>
    Effect.gen(function* () {
      const report = yield* jsonOf(yield* recording, "simulate", "history.jsonl")
      assert.containSubset(report, {
        from: "2026-01-31T08:30:00.000Z",
        incidents: [{ incident_key: "web-1/disk", state: "resolved" }],
        notifications: [{ notifier: "debug" }, { notifier: "debug", event_type: "resolved" }],
        refused: [{ line: 3, reason: "a line must be valid JSON" }],
      })
    }),
  )

  it.live("follows a policy and acts, and states what was held, for how long, and why not sent", () =>
    Effect.gen(function* () {
      const place = yield* recording
      const acknowledge = { by: "anna", for: "2h" }
      const log = [
        { received_at: "2026-01-31T08:31:00Z", incident_key: "web-1/disk", acknowledge },
        { received_at: "2026-01-31T10:00:00Z", incident_key: "web-1/disk", acknowledge },
      ]
      writeFileSync(
        join(place.cwd, "log.jsonl"),
        [...LINES, ...log.map((act) => JSON.stringify(act))].join("\n"),
      )
      writeFileSync(
        join(place.cwd, "policy.yaml"),
        "routes: [{ after: 10m, to: [webhook] }, { match: ['check_id = load'], to: [debug] }]",
      )
      const args = ["simulate", "log.jsonl", "--policy", "policy.yaml"]
      const notifiers = ["--notifier", "webhook", "--notifier", "debug"]
      const { code, stderr, stdout } = yield* tocsin(place, ...args, ...notifiers)
      assert.strictEqual(
        stderr,
        "line 4: no incident of web-1/disk is open at 2026-01-31T10:00:00.000Z: acknowledge it while it is open\n",
      )
      assert.match(
        stdout,
        /^2026-01-31T09:30:00\.000Z {2}webhook {3}opened {2}1h \(after, ack\) {2}critical {2}web-1\/disk {2}the incident resolved first$/m,
      )
      assert.match(stdout, /^1 incident and 0 notifications from 2 results of 1 agent; 1 firing not sent$/m)
      assert.strictEqual(code, 0)
      const byLabel = "routes: [{ match: ['label:team = db'], to: [webhook] }]"
      writeFileSync(join(place.cwd, "labels.yaml"), byLabel)
      const labelled = ["simulate", "log.jsonl", "--policy", "labels.yaml", ...notifiers]
      assert.include(
        (yield* tocsin(place, ...labelled)).stderr,
        "no line has a hostname or labels of an agent",
      )
      const other = yield* tocsin(place, ...args)
      assert.strictEqual(other.code, 2)
      assert.match(other.stderr, /policy\.yaml:1: routes\[0\]\.to\[0\] names no receiver/)
    }),
  )

  it.live("reports a file that it cannot read", () =>
    Effect.gen(function* () {
      const place = yield* recording
      const absent = yield* tocsin(place, "simulate", "nothing.jsonl")
      assert.deepStrictEqual([absent.code, absent.stdout], [1, ""])
      assert.match(absent.stderr, /nothing\.jsonl cannot be read/)
      writeFileSync(join(place.cwd, "other.txt"), "hello\n")
      const other = yield* tocsin(place, "simulate", "other.txt")
      assert.strictEqual(other.code, 2)
      assert.match(other.stderr, /contains no line to simulate/)
    }),
  )
})
