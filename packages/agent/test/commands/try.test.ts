import { assert, describe, it } from "@effect/vitest"
import { chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { AgentHost } from "./AgentHost.ts"

const NOBODY = 65_534

const CHECKS = `
  good: { shell: "echo all is well '|' a=1; echo more '|' b=2", incident_key: k }
  bad: { shell: "echo broken; exit 2" }
  odd: { shell: "exit 7" }
  late: { shell: "sleep 60", timeout: 1s }
  soft: { shell: "exit 1", confirm: { bad: 3 } }
  who: { shell: "echo $(id -u) $HOME $PATH $A", env: { A: b } }
  disk: { disk: { mounts: / } }
  job: { report_only: true }
`

const LONG = `
  long: { shell: "printf 'fine | a=1\\nmore\\nlast | b=2\\nc=3\\nd=4 | e=5\\n'" }
  numbers: { shell: "echo $LC_NUMERIC" }
  chosen: { shell: "echo $LC_NUMERIC", env: { LC_NUMERIC: de_DE.UTF-8 } }
  few: { shell: "printf 'fine | lo_in=1 eth0_in=2;3 x=U\\nmore\\n| eth0_out=4 b=5\\n'", numbers: [eth0_*, b] }
  plain: { shell: "printf 'fine\\nlast | b=2\\nc=3\\n'" }
`

const configured = (checks = CHECKS): AgentHost => {
  const host = new AgentHost()
  writeFileSync(join(host.folder, "config.yaml"), `server: http://127.0.0.1:9\nchecks:${checks}`)
  return host
}

const tried = (host: AgentHost, check: string) => {
  const { status, stdout } = host.call("try", [check, "--json"])
  // The output of `try --json`, of which each test reads parts.
  return { status, trial: JSON.parse(stdout) as Record<string, unknown> }
}

describe("tocsin-agent try", () => {
  it.each([
    ["good", 0, { status: "ok", output: "all is well\nmore", performance_data: "a=1 b=2" }],
    ["bad", 2, { status: "critical", exit_code: 2, output: "broken", performance_data: "" }],
    ["odd", 3, { status: "unknown", exit_code: 3 }],
    ["late", 3, { status: "unknown", output: "timed out after 1 s" }],
    ["soft", 1, { status: "warning", result: null }],
    ["disk", 0, { check: "disk", status: "ok" }],
  ] as const)("runs %s and exits with the code of a plugin", (check, code, expected) => {
    using host = configured()
    const { status, trial } = tried(host, check)
    assert.strictEqual(status, code)
    for (const [name, value] of Object.entries(expected)) assert.propertyVal(trial, name, value)
    assert.isFalse(existsSync(join(host.folder, "state")))
  })

  it.each([
    ["long", { output: "fine\nmore\nlast", performance_data: "a=1 b=2 c=3 d=4 | e=5" }],
    ["few", { output: "fine\nmore", performance_data: "eth0_in=2;3 x=U eth0_out=4 b=5" }],
    ["plain", { output: "fine\nlast", performance_data: "b=2 c=3" }],
  ])("takes what follows the second bar of %s as performance data", (check, expected) => {
    using host = configured(LONG)
    assert.deepInclude(tried(host, check).trial, expected)
  })

  it("has plugins read numbers as they are written, whatever the host's language, unless env chooses", () => {
    using host = configured(LONG)
    assert.deepInclude(tried(host, "numbers").trial, { output: "C" })
    assert.deepInclude(tried(host, "chosen").trial, { output: "de_DE.UTF-8" })
  })

  it("shows the result that would be sent", () => {
    using host = configured()
    const { result } = tried(host, "odd").trial
    assert.containsAllKeys(result, ["observed_at", "duration_ms"])
    assert.deepInclude(result, { check_id: "odd", status: "unknown", exit_code: 7 })
    assert.deepInclude(tried(host, "good").trial["result"], {
      incident_key: "k",
      output: "all is well | a=1\nmore | b=2",
    })
    assert.match(
      host.call("try", ["good"]).stdout,
      /^status {8}ok\nexit code {5}0\nduration {6}\d\.\d{3} s\noutput {8}all is well\n {14}more\nperformance {3}a=1 b=2\nresult {8}would be sent; the first of this check\n$/,
    )
  })

  it("confirms by the last status in the spool, and writes nothing there", () => {
    using host = configured()
    host.call("report", ["soft", "critical"])
    const before = host.kept()
    assert.match(host.call("try", ["soft"]).stdout, /result {8}would be sent; the last one was critical\n$/)
    assert.deepStrictEqual(host.kept(), before)
  })

  it.each<[ReadonlyArray<string>, number, RegExp]>([
    [["none"], 64, /there is no check none: use one of good, bad, odd, late, soft, who, disk\n/],
    [["job"], 64, /job is report_only, so the agent does not run it: use one of good,/],
    [[], 64, /name the check/],
    [["good", "bad"], 64, /bad is not expected here/],
    [["--all", "good"], 64, /good is not expected here/],
  ])("refuses %j", (args, code, words) => {
    using host = configured()
    const { status, stderr } = host.call("try", args)
    assert.strictEqual(status, code)
    assert.match(stderr, words)
  })

  it("tries each check of the configuration with --all, and exits with the code of the worst result", () => {
    using host = configured(CHECKS.replace("bad: {", "bad-and-long: {"))
    const { status, stdout } = host.call("try", ["--all"])
    assert.strictEqual(status, 2)
    const [title, ...rows] = stdout
      .replaceAll(/\d\.\d{3} s/g, "0.000 s")
      .trimEnd()
      .split("\n")
    assert.strictEqual(title, "CHECK         STATUS    DURATION  OUTPUT")
    assert.strictEqual(rows[0], "good          ok        0.000 s   all is well")
    assert.strictEqual(rows[1], "bad-and-long  critical  0.000 s   broken")
    const names = rows.map((row) => row.split(" ", 1)[0])
    assert.deepStrictEqual(names, ["good", "bad-and-long", "odd", "late", "soft", "who", "disk"])
    const trials: unknown = JSON.parse(host.call("try", ["--all", "--json"]).stdout)
    assert.isTrue(Array.isArray(trials) && trials.length === names.length)
  })

  it("names the problems of an invalid configuration", () => {
    using host = configured(" { a: {} }")
    const { status, stderr } = host.call("try", ["a"])
    assert.strictEqual(status, 3)
    assert.match(stderr, /config\.yaml:2: checks\.a must have one of command,/)
  })

  const isRoot = process.geteuid?.() === 0
  const unless = isRoot ? "" : " (skipped: only root can)"
  it.skipIf(!isRoot)(`acts as the owner of the state folder, as the unit does${unless}`, () => {
    using host = configured()
    const state = join(host.folder, "state")
    mkdirSync(state)
    for (const path of [host.folder, state]) chownSync(path, NOBODY, NOBODY)
    const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert.strictEqual(tried(host, "who").trial["output"], `${NOBODY} ${state} ${path} b`)
  })
})
