import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { feed } from "./feed.ts"
import { jsonOf, serverAt, tocsin } from "./tocsin.ts"

const POLICY = `
receivers:
  pager: { kind: webhook, url_file: /no/such/file, secret_env: NO_SUCH_VARIABLE }
routes:
  - { match: ["severity = critical"], to: [pager] }
windows:
  - { name: backup, cron: "0 2 * * 0", tz: Europe/Berlin, for: 4h, match: ["check_id glob disk*"] }
`

const site = Effect.map(scratchFolder, (cwd) => {
  writeFileSync(join(cwd, "policy.yaml"), POLICY)
  writeFileSync(
    join(cwd, "bad.yaml"),
    POLICY.replace("to: [pager]", "to: [chat]")
      .replace("0 2 * * 0", "0 2 30 2 *")
      .replace("disk*", "'disk*'"),
  )
  return { cwd, environment: { SERVICE_POLICY_FILE: "policy.yaml" } }
})

describe("tocsin policy check", () => {
  it.live("accepts a policy without opening the secrets that it names", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* tocsin(yield* site, "policy", "check", "policy.yaml")
      assert.deepStrictEqual({ code, stdout }, { code: 0, stdout: "policy.yaml is valid\n" })
    }),
  )

  it.live("names every problem by line and path, and fails", () =>
    Effect.gen(function* () {
      const at = yield* site
      const { code, stderr, stdout } = yield* tocsin(at, "policy", "check", "bad.yaml")
      assert.deepStrictEqual(stdout.trimEnd().split("\n"), [
        "bad.yaml:5: routes[0].to[0] names no receiver; the receivers are pager; set SERVICE_EXTENSIONS if a module gives it",
        "bad.yaml:7: windows[0].cron never fires: no date matches it",
      ])
      assert.strictEqual(code, 1)
      assert.include(stderr, "bad.yaml is not a valid policy")
      const quoted = "compares with quotes as a part of the value (check_id glob 'disk*'); leave them out"
      assert.include(stderr, `warning: bad.yaml: windows[0].match[0] ${quoted}`)
      const json = yield* tocsin(at, "policy", "check", "bad.yaml", "--json")
      assert.deepNestedInclude(JSON.parse(json.stdout), {
        "issues[0].line": 5,
        "issues[0].path": "routes[0].to[0]",
        "warnings[0].path": "windows[0].match[0]",
      })
      const missing = yield* tocsin(at, "policy", "check", "missing.yaml")
      assert.strictEqual(
        missing.stdout,
        "missing.yaml:1: the policy cannot be read: check that it exists and is readable\n",
      )
    }),
  )
})

describe("tocsin policy apply, get and versions", () => {
  it.live("store a file or standard input, and read each version as it was stored", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      yield* tocsin(place, "migrate")
      const none = yield* tocsin(place, "policy", "get")
      assert.strictEqual(none.code, EXIT_CODES.not_found.code)
      assert.include(none.stderr, "no policy is stored: apply one with tocsin policy apply FILE")
      const first = "# None yet.\nwindows: []\n"
      writeFileSync(join(place.cwd, "policy.yaml"), first)
      const applied = Object(yield* jsonOf(place, "policy", "apply", "policy.yaml"))
      assert.strictEqual(applied.version, 1)
      assert.match(applied.applied_by, /^cli:/)
      const second = `windows: [{ name: nightly, cron: "0 2 * * *", tz: UTC, for: 1h, match: ["check_id = backup"] }]\n`
      writeFileSync(join(place.cwd, "policy.yaml"), second)
      const refused = yield* tocsin(place, "policy", "apply", "policy.yaml", "--if-match", "0123")
      assert.strictEqual(refused.code, EXIT_CODES.refused.code)
      assert.include(refused.stderr, "another policy is in force")
      feed(place, second, "policy", "apply", "-")
      assert.include((yield* tocsin(place, "windows")).stdout, "nightly")
      assert.strictEqual((yield* tocsin(place, "policy", "get")).stdout, second)
      assert.strictEqual((yield* tocsin(place, "policy", "get", "1")).stdout, first)
      const { items } = (yield* jsonOf(place, "policy", "versions")) as {
        readonly items: ReadonlyArray<{ readonly version: number; readonly text: string }>
      }
      assert.deepStrictEqual(
        items.map(({ text, version }) => [version, text]),
        [
          [2, second],
          [1, first],
        ],
      )
      const gone = yield* tocsin(place, "policy", "get", "9")
      assert.include(gone.stderr, "no such version is stored: list them with tocsin policy versions")
    }),
  )
})

describe("a watch whose target no watch may have", () => {
  it.live("is a problem of the policy for check, apply, try and a server", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const text = "watches:\n  - name: here\n    http: { url: http://localhost:9090/ }\n"
      writeFileSync(join(cwd, "policy.yaml"), text)
      const problem =
        "policy.yaml:3: watches[0].http.url leads to the server's own machine: allow probes that only read in Settings of the console, or by tocsin settings set watch_loopback true; for others, start the server with SERVICE_WATCH_LOOPBACK=true to allow it\n"
      yield* tocsin({ cwd, environment: {} }, "migrate")
      const run = (environment: Readonly<Record<string, string>>, ...line: ReadonlyArray<string>) =>
        tocsin({ cwd, environment }, ...line)
      const checked = yield* run({}, "policy", "check", "policy.yaml")
      assert.deepStrictEqual([checked.code, checked.stdout], [1, problem])
      const applied = yield* run({}, "policy", "apply", "policy.yaml")
      assert.notStrictEqual(applied.code, 0)
      assert.include(applied.stderr, "watches[0].http.url leads to the server's own machine")
      const tried = yield* run({}, "policy", "try", "policy.yaml")
      assert.notStrictEqual(tried.code, 0)
      assert.include(tried.stderr, problem.trimEnd())
      const asFile = yield* run({ SERVICE_POLICY_FILE: "policy.yaml" }, "policy", "check", "policy.yaml")
      assert.deepStrictEqual([asFile.code, asFile.stdout], [1, problem])
      const line = "{ name: Web shop, match: [check_id = http] }"
      const page = `pages:\n  example: { title: Example, groups: [{ title: Shop, lines: [${line}] }] }\n`
      writeFileSync(join(cwd, "policy.yaml"), text + page)
      const allowed = yield* run({ SERVICE_WATCH_LOOPBACK: "true" }, "policy", "check", "policy.yaml")
      assert.deepStrictEqual(
        [allowed.code, allowed.stdout],
        [0, "policy.yaml is valid\nexample/web-shop shows no check\n"],
      )
      const warning =
        "pages.example.groups[0].lines[0] matches no check, so it shows no data: correct its matchers"
      assert.include(allowed.stderr, `warning: policy.yaml: ${warning}`)
    }),
  )
})

describe("tocsin policy try", () => {
  it.live("takes a policy that is missing or invalid for a wrong argument, or a wrong setting", () =>
    Effect.gen(function* () {
      const { cwd, environment } = yield* site
      const invalid = yield* tocsin({ cwd, environment }, "policy", "try", "bad.yaml")
      assert.deepStrictEqual([invalid.code, invalid.stdout], [EXIT_CODES.usage.code, ""])
      assert.include(invalid.stderr, "bad.yaml:5: routes[0].to[0] names no receiver")
      const missing = yield* tocsin({ cwd, environment }, "policy", "try", "missing.yaml")
      assert.strictEqual(missing.code, EXIT_CODES.usage.code)
      assert.include(missing.stderr, "missing.yaml:1: the policy cannot be read")
      const inForce = { cwd, environment: { SERVICE_POLICY_FILE: "bad.yaml" } }
      const setting = yield* tocsin(inForce, "policy", "try", "policy.yaml")
      assert.strictEqual(setting.code, EXIT_CODES.usage.code)
    }),
  )
})

describe("tocsin windows", () => {
  it.live("lists the next five times of each window", () =>
    Effect.gen(function* () {
      const at = yield* site
      const { windows } = (yield* jsonOf(at, "windows")) as {
        readonly windows: ReadonlyArray<{
          readonly name: string
          readonly match: ReadonlyArray<string>
          readonly occurrences: ReadonlyArray<{ readonly starts_at: string; readonly ends_at: string }>
        }>
      }
      const [backup] = windows
      assert.deepStrictEqual(backup?.match, ["check_id glob disk*"])
      assert.lengthOf(backup?.occurrences ?? [], 5)
      for (const { ends_at, starts_at } of backup?.occurrences ?? []) {
        assert.strictEqual(new Date(starts_at).getUTCDay(), 0)
        assert.strictEqual(Date.parse(ends_at) - Date.parse(starts_at), 4 * 3_600_000)
      }
      const { stdout } = yield* tocsin(at, "windows")
      assert.lengthOf(stdout.trimEnd().split("\n"), 6)
    }),
  )

  it.live("has none without a policy", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      yield* (yield* startServer(serverAt(place))).stop
      const { stdout } = yield* tocsin(place, "windows")
      assert.strictEqual(stdout, "the policy has no maintenance window\n")
    }),
  )
})
