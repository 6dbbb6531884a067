import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { createMonitor, sqlite } from "tocsin"
import { jsonOf, tocsin } from "../cli/tocsin.ts"
import { enroll, report } from "./Agent.ts"
import { OPERATOR_TOKEN, operate } from "./api.ts"
import { JSON_STORE } from "./jsonStore.ts"
import { scratchSite } from "./scratch.ts"
import { launch, startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"

const PAGER = `import { appendFileSync } from "node:fs"
appendFileSync("imports.log", "imported\\n")
Promise.reject(new Error("a promise of the module, to SECRET-of-the-pager"))
await new Promise((resolve) => setTimeout(resolve, 20))
export default {
  notifiers: [{ name: "pager", secrets: ["SECRET-of-the-pager"], send: ({ text }) => appendFileSync("pages.log", text.split("\\n")[0] + "\\n"), test: () => {} }],
}
`

const BUSY = `const error = "The pager is busy."
export default { notifiers: [{ name: "pager", send: () => ({ outcome: "deferred", error }), test: () => {} }] }
`

const OTHER_FILE = `export default { storage: { name: "SQLite", kind: "sqlite", file: () => "other.db" } }
`

const POLICY = "routes: [ { match: ['check_id = disk'], to: [pager] } ]\n"

const RESULT = {
  event_id: "01900000-0000-7000-8000-000000000001",
  check_id: "disk",
  observed_at: "2026-01-31T08:00:00Z",
  status: "critical",
  exit_code: 2,
  duration_ms: 9,
}
const STORY = [
  { received_at: "2026-01-31T08:00:00Z", agent_id: "web-1", events: [RESULT] },
  { received_at: "2026-01-31T08:00:00Z", expect: { receiver: "pager", event: "firing" } },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("")

const AUTH = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }

const linesOf = (path: string) =>
  Effect.try(() => readFileSync(path, "utf8").trim().split("\n")).pipe(Effect.orElseSucceed(() => []))

describe("SERVICE_EXTENSIONS", () => {
  it.live("gives one of two servers a notifier, which policies of both may name", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "pager.mjs": PAGER, "policy.yaml": POLICY, "story.jsonl": STORY })
      const having = yield* startServer({ cwd, environment: { ...AUTH, SERVICE_EXTENSIONS: "./pager.mjs" } })
      const lacking = yield* startServer({ cwd, environment: AUTH })
      const shell = { cwd, environment: {} }
      const checked = yield* tocsin(shell, "policy", "check", "policy.yaml")
      assert.deepStrictEqual([checked.code, checked.stdout], [0, "policy.yaml is valid\n"])
      const applied = yield* tocsin(shell, "policy", "apply", "policy.yaml")
      assert.strictEqual(applied.code, 0, applied.stderr)
      assert.include(applied.stdout, "pager")
      const tried = yield* tocsin(shell, "policy", "try", "policy.yaml")
      assert.strictEqual(tried.code, 0, tried.stderr)
      const played = yield* tocsin(shell, "policy", "test", "story.jsonl", "--policy", "policy.yaml")
      assert.strictEqual(played.code, 0, played.stderr)
      assert.include(played.stdout, "1 of 1 expectation hold")
      const listed = yield* tocsin(shell, "incidents")
      assert.deepStrictEqual([listed.code, listed.stderr], [0, "no incidents\n"])

      const agent = yield* enroll(lacking, "web-1")
      yield* report(lacking, agent, { check_id: "disk", status: "critical" })
      const pages = join(cwd, "pages.log")
      yield* until(
        "the page arrives",
        Effect.map(linesOf(pages), (lines) => lines.length > 0),
      )
      assert.deepStrictEqual(yield* linesOf(pages), ["CRITICAL: web-1/disk"])
      const { text } = yield* operate(lacking, "GET", "/ops/v1/policy")
      assert.deepStrictEqual(
        Object(JSON.parse(text)).receivers.map(({ name, unavailable = false }: Record<string, unknown>) => [
          name,
          unavailable,
        ]),
        [
          ["debug", false],
          ["pager", true],
        ],
      )

      const tested = yield* tocsin(
        { cwd, environment: { SERVICE_EXTENSIONS: "./pager.mjs" } },
        "doctor",
        "--send-test",
      )
      assert.include(tested.stdout, "the notifier of ./pager.mjs accepted the test message")
      yield* having.signal("SIGHUP")
      yield* until(
        "the settings were read",
        Effect.sync(() => having.output.stderr.includes("were read again")),
      )
      assert.deepStrictEqual((yield* linesOf(join(cwd, "imports.log"))).length, 2)
      assert.include(having.output.stderr, "nothing handles it")
      assert.include(having.output.stderr, "a promise of the module, to ***")
      assert.notInclude(having.output.stderr, "SECRET-of-the-pager")

      // Without the module, whatever the policy names, a server starts and does the rest.
      assert.deepStrictEqual((yield* having.stop).code, 0)
      yield* lacking.stop
      const removed = yield* startServer({ cwd, environment: AUTH })
      assert.include(removed.output.stderr, "a receiver of the stored policy is unavailable here")
      yield* report(removed, agent, { check_id: "disk", status: "ok" })
      const after = yield* tocsin(shell, "doctor", "--json")
      assert.include(after.stdout, "neither a module nor a setting of this server gives it")
      const waiting = yield* jsonOf(shell, "outbox", "--receiver", "pager", "--state", "pending")
      assert.deepStrictEqual(
        Object(waiting).items.map(({ event_type, why }: Record<string, unknown>) => [event_type, why]),
        [["resolved", "no running server can use this receiver"]],
      )
      const shown = yield* tocsin(shell, "outbox", "--notifier", "pager")
      assert.match(
        shown.stdout,
        /\bpager +pager +resolved +pending .* no running server can use this receiver/,
      )
      assert.match(shown.stdout, /\bpager +pager +firing +sent /)
      const mistyped = yield* tocsin(shell, "outbox", "--receiver", "pagerr")
      assert.deepStrictEqual(
        [mistyped.stdout, mistyped.stderr],
        ["", "no notifications with these options\n"],
      )
    }),
  )

  it.live("gives a server a storage, which commands open while none has it", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "store.mjs": JSON_STORE, "policy.yaml": "routes: []\n" })
      const environment = { ...AUTH, SERVICE_EXTENSIONS: join(cwd, "store.mjs") }
      const shell = { cwd, environment }
      for (const line of [
        ["agents", "list"],
        ["copy", "--from", "extension", "--to", "sqlite:copy.db"],
      ]) {
        const empty = yield* tocsin(shell, ...line)
        assert.deepStrictEqual([empty.code, empty.stdout], [EXIT_CODES.storage.code, ""])
        assert.include(empty.stderr, "found no Tocsin data in a JSON file")
        assert.include(empty.stderr, "correct where the module keeps it")
      }
      const server = yield* startServer({ cwd, environment })
      assert.include(server.output.stderr, `"storage":"a JSON file of ${join(cwd, "store.mjs")}"`)
      yield* enroll(server, "web-1")
      const beside = yield* tocsin(shell, "agents", "list")
      assert.strictEqual(beside.code, EXIT_CODES.storage.code)
      assert.include(beside.stderr, `a JSON file of ${join(cwd, "store.mjs")} cannot be opened: `)
      const copied = yield* tocsin(shell, "copy", "--from", "extension", "--to", "sqlite:copy.db")
      assert.deepStrictEqual([copied.code, copied.stderr], [beside.code, beside.stderr])
      const tried = yield* tocsin(shell, "policy", "try", "policy.yaml")
      assert.deepStrictEqual([tried.code, tried.stdout], [EXIT_CODES.usage.code, ""])
      assert.strictEqual((yield* tocsin(shell, "backup", "copy.db")).code, EXIT_CODES.refused.code)
      yield* server.stop
      const listed = yield* tocsin(shell, "agents", "list")
      assert.deepStrictEqual([listed.code, listed.stdout.includes("web-1")], [0, true])
      assert.strictEqual((yield* tocsin(shell, "doctor")).code, EXIT_CODES.ok.code)
      const other = { cwd, environment: { ...environment, SERVICE_KEY_PEPPER: "another-pepper-0123456789" } }
      const examined = yield* tocsin(other, "doctor")
      assert.strictEqual(examined.code, EXIT_CODES.usage.code)
      assert.include(examined.stdout, "SERVICE_KEY_PEPPER differs")

      const broken = { cwd, environment: { ...environment, DATABASE_URL: "memory:" } }
      const refused = yield* launch(broken)
      assert.deepStrictEqual(yield* refused.ended, { code: EXIT_CODES.failed.code, signal: null })
      assert.include(refused.output.stderr, "which gives a storage beside DATABASE_URL")
      const command = yield* tocsin(broken, "agents", "list")
      assert.deepStrictEqual([command.code, command.stdout], [EXIT_CODES.usage.code, ""])
      assert.include(command.stderr, "which gives a storage beside DATABASE_URL")

      const forgotten = yield* startServer({ cwd, environment: AUTH })
      assert.include(forgotten.output.stderr, "so it starts without data: stop it and set SERVICE_EXTENSIONS")
      yield* forgotten.stop
      const again = yield* startServer({ cwd, environment: AUTH })
      assert.notInclude(again.output.stderr, "it starts without data")
      yield* again.stop
      const returned = yield* startServer({ cwd, environment })
      assert.match(
        returned.output.stderr,
        /the data is in a JSON file, and not in .*tocsin\.db: move that file away/,
      )
    }),
  )

  it.live("may name a new file of SQLite, of which nothing is lost", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "file.mjs": OTHER_FILE })
      yield* (yield* startServer({ cwd, environment: AUTH })).stop
      const server = yield* startServer({ cwd, environment: { ...AUTH, SERVICE_EXTENSIONS: "./file.mjs" } })
      assert.include(server.output.stderr, "SQLite in other.db")
      assert.notInclude(server.output.stderr, "starts without data")
    }),
  )

  it.live("has the doctor report what waits for a module that was forgotten", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "pager.mjs": BUSY })
      const having = yield* startServer({ cwd, environment: { ...AUTH, SERVICE_EXTENSIONS: "./pager.mjs" } })
      const agent = yield* enroll(having, "web-1")
      yield* report(having, agent, { check_id: "disk", status: "critical" })
      const shell = { cwd, environment: {} }
      const isTried = Effect.map(
        jsonOf(shell, "outbox", "--state", "retry"),
        (listed) => Object(listed).items.length > 0,
      )
      yield* until("the pager has refused it for now", isTried)
      yield* having.stop
      const stopped = yield* tocsin(shell, "doctor")
      assert.include(stopped.stdout, "pager has 1 notification waiting")
      yield* startServer({ cwd, environment: AUTH })
      const { stdout } = yield* tocsin(shell, "doctor")
      assert.match(
        stdout,
        /delivery +attention +pager has 1 notification waiting: .* the module that gives it/,
      )
    }),
  )

  it.live("is named where a policy names a receiver that no module of the command gives", () =>
    Effect.gen(function* () {
      const shell = { cwd: yield* scratchSite({ "policy.yaml": POLICY }), environment: {} }
      const { stdout } = yield* tocsin(shell, "policy", "check", "policy.yaml")
      assert.include(
        stdout,
        "policy.yaml:1: routes[0].to[0] names no receiver; the receivers are debug; set SERVICE_EXTENSIONS if a module gives it",
      )
    }),
  )

  it.live("is not needed where a program gives the notifier, and follows the stored policy", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "policy.yaml": POLICY })
      const shell = { cwd, environment: {} }
      yield* tocsin(shell, "migrate")
      const open = (policy: "stored" | object) =>
        createMonitor({
          storage: sqlite(join(cwd, "data/tocsin.db")),
          notifiers: [{ name: "pager", secrets: ["SECRET-of-the-pager"], send: () => {} }],
          policy,
          log: false,
        })
      const monitor = yield* Effect.promise(() => open("stored"))
      const isListed = Effect.promise(async () => (await monitor.policy.get()).replicas.length > 0)
      yield* until("the monitor reports itself", isListed)
      assert.strictEqual((yield* tocsin(shell, "policy", "check", "policy.yaml")).code, 0)
      const applied = yield* tocsin(shell, "policy", "apply", "policy.yaml")
      assert.deepStrictEqual([applied.code, applied.stderr], [0, ""])
      const { policy } = yield* Effect.promise(() => monitor.policy.get())
      assert.deepStrictEqual(policy.routes?.[0]?.to, ["pager"])
      yield* Effect.promise(() => monitor.close())

      const deciding = yield* Effect.promise(() => open({ routes: [{ to: ["pager"] }] }))
      yield* until(
        "the monitor reports itself",
        Effect.promise(async () => (await deciding.policy.get()).replicas.length > 0),
      )
      const listed = yield* tocsin(shell, "incidents")
      assert.include(listed.stderr, "a running program decides on the policy that it follows")
      yield* Effect.promise(() => deciding.close())
    }),
  )
})
