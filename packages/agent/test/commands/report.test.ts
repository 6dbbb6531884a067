import { assert, describe, it } from "@effect/vitest"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { AgentHost } from "./AgentHost.ts"

describe("tocsin-agent report", () => {
  it.each<[ReadonlyArray<string>, string, object]>([
    [["disk", "2", "-12 degrees"], "", { status: "critical", exit_code: 2, output: "-12 degrees" }],
    [["disk", "ok", "--state=/nowhere"], "", { status: "ok", exit_code: 0, output: "--state=/nowhere" }],
    [["disk", "0", "--", "-1", "--config", "x"], "", { status: "ok", output: "-1 --config x" }],
    [["disk", "ok", "--", "-"], "", { output: "-" }],
    [["disk", "ok", "several", "words"], "", { output: "several words" }],
    [["disk", "1", "-"], "first\nsecond | a=1\n\n", { status: "warning", output: "first\nsecond | a=1" }],
    [["disk", "unknown", "-"], "", { status: "unknown", exit_code: 3, output: undefined }],
    [["disk", "3"], "", { status: "unknown", exit_code: 3, output: undefined }],
    [["--incident-key", "a b", "disk", "critical", "bad"], "", { incident_key: "a b", output: "bad" }],
    [["disk", "critical", "--incident-key=k", "bad"], "", { incident_key: "k", output: "bad" }],
  ])("takes %j", (args, input, expected) => {
    using host = new AgentHost()
    assert.deepStrictEqual(host.call("report", args, input), { status: 0, stdout: "", stderr: "" })
    const { last } = host.kept()
    for (const [name, value] of Object.entries(expected))
      assert.propertyVal({ output: undefined, ...last }, name, value)
  })

  it.each<[ReadonlyArray<string>, RegExp]>([
    [["disk", "fine"], /the status must be one of ok, warning, critical, unknown, or a code from 0 to 3/],
    [["disk", "4"], /the status must be one of/],
    [["disk"], /the status must be one of/],
    [[], /name the check/],
    [["--severity", "warning", "disk", "ok"], /--severity has no meaning here/],
    [["--incident-key", "", "disk", "ok"], /--incident-key must have 1 to 256 characters/],
    // The last argument is the text, so the option lacks its value: the result goes nowhere else.
    [["disk", "ok", "--state", "/nowhere"], /--state.*argument missing/],
  ])("refuses %j", (args, words) => {
    using host = new AgentHost()
    const { status, stderr } = host.call("report", args)
    assert.strictEqual(status, 64)
    assert.match(stderr, words)
  })

  it("keeps the beginning of a long text from standard input, and counts the rest", () => {
    using host = new AgentHost()
    host.call("report", ["disk", "ok", "-"], "x".repeat(100_000))
    const { last } = host.kept()
    assert.match(last?.output ?? "", /^x{8000}.*\[truncated \d+ bytes\]$/)
    assert.isTrue(last?.output_truncated)
  })

  it("has the incident key of its check, unless an option names another", () => {
    using host = new AgentHost()
    const check = "{ report_only: true, every: 1d, incident_key: backups, notifications_enabled: false }"
    writeFileSync(join(host.folder, "config.yaml"), `server: http://a\nchecks:\n  job: ${check}\n`)
    host.call("report", ["job", "critical"])
    host.call("run", ["job", "--", "sh", "-c", "exit 1"])
    host.call("report", ["--incident-key", "other", "job", "warning"])
    host.call("run", ["job", "--incident-key", "third", "--", "sh", "-c", "exit 2"])
    assert.deepStrictEqual(
      host.kept().events.map((event) => [event.incident_key, event.notifications_enabled]),
      [
        ["backups", false],
        ["backups", false],
        ["other", false],
        ["third", false],
      ],
    )
  })
})
