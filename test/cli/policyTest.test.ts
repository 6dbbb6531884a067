import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { jsonOf, tocsin } from "./tocsin.ts"

const POLICY = `
receivers:
  pager: { kind: webhook, url_file: /no/such/file, secret_env: NO_SUCH_VARIABLE }
  chat: { kind: messenger, url_env: NO_SUCH_VARIABLE }
routes:
  - steps: [{ to: [chat] }, { after: 15m, to: [pager] }]
`

const RESULT = {
  received_at: "2026-01-31T08:00:00Z",
  agent_id: "web-1",
  events: [
    {
      event_id: "01900000-0000-7000-8000-000000000001",
      check_id: "disk",
      observed_at: "2026-01-31T08:00:00Z",
      status: "critical",
      exit_code: 2,
      duration_ms: 9,
    },
  ],
}

const story = (...lines: ReadonlyArray<object>): string =>
  [RESULT, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("")

const GOOD = story(
  { received_at: "2026-01-31T08:00:00Z", expect: { receiver: "chat", event: "firing" } },
  { received_at: "2026-01-31T08:00:00Z", expect_none: { receiver: "pager", within: "14m" } },
  { received_at: "2026-01-31T08:15:00Z", expect: { receiver: "pager", cause: "escalation" } },
)
const BAD = story(
  {
    received_at: "2026-01-31T08:05:00Z",
    incident_key: "web-1/<disk>",
    expect: { receiver: "pager", within: "1m" },
  },
  { received_at: "2026-01-31T08:00:00Z", expect_at_most: { receiver: "pager", count: 0, within: "1h" } },
  { received_at: "2026-01-31T08:00:00Z", expect: { receiver: "chat" } },
)

const site = Effect.map(scratchFolder, (cwd) => {
  writeFileSync(join(cwd, "policy.yaml"), POLICY)
  writeFileSync(join(cwd, "good.jsonl"), GOOD)
  writeFileSync(join(cwd, "bad.jsonl"), BAD)
  return { cwd, environment: { SERVICE_POLICY_FILE: "policy.yaml" } }
})

const EPISODES = fileURLToPath(new URL("../../examples/episodes", import.meta.url))

describe("tocsin policy test", () => {
  it.live("finds all expectations of the example stories about episodes and steps to hold", () =>
    Effect.gen(function* () {
      const stories = readdirSync(EPISODES).filter((file) => file.endsWith(".jsonl"))
      const args = ["policy", "test", ...stories, "--policy", "policy.yaml", "--json"]
      const { code, stdout } = yield* tocsin({ cwd: EPISODES, environment: {} }, ...args)
      assert.isAtLeast(stories.length, 20)
      assert.strictEqual(code, 0, stdout)
    }),
  )

  it.live("pages who is on call at a return after hours, and the boss a quarter of an hour later", () =>
    Effect.gen(function* () {
      const given = { cwd: `${EPISODES}/again`, environment: {} }
      const notifiers = ["debug", "messenger", "webhook"].flatMap((name) => ["--notifier", name])
      const args = ["policy", "test", "again.jsonl", "--policy", "again.yaml", ...notifiers]
      const { code, stdout } = yield* tocsin(given, ...args)
      assert.strictEqual(code, 0, stdout)
      assert.include(stdout, "3 of 3 expectations hold")
    }),
  )

  it.live("plays stories by the policy of the settings, and succeeds when all expectations hold", () =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* tocsin(yield* site, "policy", "test", "good.jsonl")
      assert.deepStrictEqual(stdout.split("\n"), [
        "pass  good.jsonl:2  expect chat firing from 2026-01-31T08:00:00.000Z until 2026-01-31T08:00:15.000Z",
        "pass  good.jsonl:3  expect_none pager from 2026-01-31T08:00:00.000Z until 2026-01-31T08:14:00.000Z",
        "pass  good.jsonl:4  expect pager escalation from 2026-01-31T08:15:00.000Z until 2026-01-31T08:15:15.000Z",
        "",
        "3 of 3 expectations hold by policy.yaml",
        "",
      ])
      assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
    }),
  )

  it.live("has one outcome, whatever the settings of the shell", () =>
    Effect.gen(function* () {
      const { cwd, environment } = yield* site
      const heartbeat = { agent_id: "web-1", hostname: "web-1", features: { push: true, metrics: false } }
      const received_at = "2026-01-31T08:00:00Z"
      const lines = [
        { received_at, observed_at: received_at, ...heartbeat },
        {
          received_at: "2026-01-31T08:05:00Z",
          incident_key: "web-1/@heartbeat",
          expect: { receiver: "chat" },
        },
      ]
      writeFileSync(join(cwd, "dead.jsonl"), story(...lines))
      const place = {
        cwd,
        environment: { ...environment, SERVICE_DEAD_AFTER: "1h", SERVICE_STALE_AFTER: "30m" },
      }
      assert.strictEqual((yield* tocsin(place, "policy", "test", "dead.jsonl")).code, 0)
      const later = yield* tocsin(place, "policy", "test", "dead.jsonl", "--dead-after", "10m")
      assert.strictEqual(later.code, EXIT_CODES.failed.code)
    }),
  )

  it.live("fails with what each receiver got instead", () =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* tocsin(yield* site, "policy", "test", "good.jsonl", "bad.jsonl")
      assert.deepStrictEqual(stdout.split("\n").slice(3), [
        "FAIL  bad.jsonl:2  expect pager web-1/<disk> from 2026-01-31T08:05:00.000Z until 2026-01-31T08:06:00.000Z",
        "      found 0 messages; pager got firing escalation web-1/disk at 2026-01-31T08:15:00.000Z",
        "FAIL  bad.jsonl:3  expect_at_most 0 pager from 2026-01-31T08:00:00.000Z until 2026-01-31T09:00:00.000Z",
        "      found 1 message; pager got firing escalation web-1/disk at 2026-01-31T08:15:00.000Z",
        "pass  bad.jsonl:4  expect chat from 2026-01-31T08:00:00.000Z until 2026-01-31T08:00:15.000Z",
        "",
        "4 of 6 expectations hold by policy.yaml",
        "",
      ])
      assert.strictEqual(code, EXIT_CODES.failed.code)
      assert.include(stderr, "the policy fails its test: 2 of 6 expectations")
    }),
  )

  it.live("takes another policy, and counts a line that it skips as a failure", () =>
    Effect.gen(function* () {
      const { cwd, environment } = yield* site
      writeFileSync(join(cwd, "other.yaml"), "routes: [{ to: [webhook] }]\n")
      writeFileSync(join(cwd, "odd.jsonl"), `${GOOD}{"expected": 1}\n`)
      const options = ["--policy", "other.yaml", "--notifier", "webhook"]
      const { code, stdout } = yield* tocsin({ cwd, environment }, "policy", "test", "odd.jsonl", ...options)
      assert.include(
        stdout,
        "FAIL  odd.jsonl:2  a line that can be played\n      receiver names no receiver; the receivers are webhook\n",
      )
      assert.include(
        stdout,
        "FAIL  odd.jsonl:5  a line that can be played\n      a line must be a heartbeat (hostname, ",
      )
      assert.include(stdout, "0 of 4 expectations hold by other.yaml")
      assert.strictEqual(code, EXIT_CODES.failed.code)
    }),
  )

  it.live("fails for a story that expects nothing", () =>
    Effect.gen(function* () {
      const { cwd, environment } = yield* site
      writeFileSync(join(cwd, "empty.jsonl"), "\n")
      writeFileSync(join(cwd, "quiet.jsonl"), story())
      const ran = yield* tocsin({ cwd, environment }, "policy", "test", "empty.jsonl", "quiet.jsonl")
      assert.include(ran.stdout, "FAIL  empty.jsonl:1  an expectation\n")
      assert.include(ran.stdout, "FAIL  quiet.jsonl:1  an expectation\n")
      assert.strictEqual(ran.code, EXIT_CODES.failed.code)
    }),
  )

  it.live("writes TAP, JUnit and JSON", () =>
    Effect.gen(function* () {
      const at = yield* site
      const test = ["policy", "test", "good.jsonl", "bad.jsonl"]
      const tap = yield* tocsin(at, ...test, "--format", "tap")
      const lines = tap.stdout.split("\n")
      assert.deepStrictEqual(lines.slice(0, 3), [
        "TAP version 14",
        "1..6",
        "ok 1 - good.jsonl:2 expect chat firing from 2026-01-31T08:00:00.000Z until 2026-01-31T08:00:15.000Z",
      ])
      assert.deepStrictEqual(lines.slice(5, 9), [
        "not ok 4 - bad.jsonl:2 expect pager web-1/<disk> from 2026-01-31T08:05:00.000Z until 2026-01-31T08:06:00.000Z",
        "  ---",
        '  message: "found 0 messages; pager got firing escalation web-1/disk at 2026-01-31T08:15:00.000Z"',
        "  ...",
      ])
      const junit = yield* tocsin(at, ...test, "--format", "junit")
      assert.include(junit.stdout, '<testsuites name="tocsin policy test" tests="6" failures="2">')
      assert.include(junit.stdout, '<testsuite name="bad.jsonl" tests="3" failures="2">')
      assert.include(junit.stdout, "line 2: expect pager web-1/&lt;disk&gt; from")
      assert.strictEqual(junit.code, EXIT_CODES.failed.code)
      const json = yield* jsonOf(at, "policy", "test", "good.jsonl")
      assert.containSubset(json, {
        policy: "policy.yaml",
        holds: true,
        stories: [
          { file: "good.jsonl", refused: [], expectations: [{ line: 2, kind: "expect", messages: 1 }] },
        ],
      })
    }),
  )

  it.live("takes agents for stale by its flags", () =>
    Effect.gen(function* () {
      const { cwd } = yield* site
      const beat = { hostname: "web-1", features: { push: true, metrics: false } }
      const [start, later] = ["2026-01-31T07:59:00Z", "2026-01-31T08:00:00Z"]
      const lines = [
        { received_at: start, agent_id: "host", observed_at: start, ...beat },
        { received_at: later, agent_id: "web-1", observed_at: later, ...beat },
        RESULT,
        { received_at: later, expect_none: { receiver: "debug", within: "50s" } },
      ]
      writeFileSync(join(cwd, "stale.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"))
      const dependency = `{ parent: ["incident_key = host/@heartbeat"], child: ["check_id = disk"], equal: [hostname] }`
      writeFileSync(join(cwd, "stale.yaml"), `dependencies: [${dependency}]\n`)
      const place = { cwd, environment: {} }
      const test = ["policy", "test", "stale.jsonl", "--policy", "stale.yaml"]
      const of = ["--stale-after", "40s", "--dead-after", "3m"]
      assert.strictEqual((yield* tocsin(place, ...test, ...of)).stdout.slice(0, 4), "pass")
      assert.strictEqual((yield* tocsin(place, ...test)).stdout.slice(0, 4), "FAIL")
    }),
  )

  it.live("takes a missing story for a failure, and an invalid policy for a wrong argument", () =>
    Effect.gen(function* () {
      const at = yield* site
      const missing = yield* tocsin(at, "policy", "test", "missing.jsonl")
      assert.deepStrictEqual([missing.code, missing.stdout], [EXIT_CODES.failed.code, ""])
      assert.include(missing.stderr, "missing.jsonl cannot be read")
      writeFileSync(join(at.cwd, "bad.yaml"), "routes: [{ to: [nobody] }]\n")
      const invalid = yield* tocsin(at, "policy", "test", "good.jsonl", "--policy", "bad.yaml")
      assert.deepStrictEqual([invalid.code, invalid.stdout], [EXIT_CODES.usage.code, ""])
      assert.include(invalid.stderr, "bad.yaml:1: routes[0].to[0] names no receiver")
      assert.include(
        invalid.stderr,
        "name each that the settings of your servers give, such as --notifier messenger",
      )
    }),
  )
})
