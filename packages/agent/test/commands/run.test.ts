import { assert, describe, it } from "@effect/vitest"
import { headlineOf } from "@tocsin/contract/formats/headline"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { constants } from "node:os"
import { join } from "node:path"
import { readConfig } from "../../src/config/readConfig.ts"
import { passedSignals } from "../../src/jobs/Job.ts"
import { JOBS_NOTE, reportLostJobs, savedJobs } from "../../src/jobs/StartedJob.ts"
import { AgentHost, until } from "./AgentHost.ts"

const sh = (script: string): ReadonlyArray<string> => ["--", "sh", "-c", script]
const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))

describe("tocsin-agent run", { timeout: 120_000 }, () => {
  it.each<[string, ReadonlyArray<string>, string, string]>([
    ["exit 0", [], "ok", "0"],
    ["exit 1", [], "critical", "1"],
    ["exit 2", ["--severity", "warning"], "warning", "2"],
    ["exit 77", ["--severity", "unknown"], "unknown", "77"],
    ["exit 1", ["--nagios"], "warning", "1"],
    ["exit 2", ["--nagios"], "critical", "2"],
    ["exit 3", ["--nagios", "--severity", "warning"], "unknown", "3"],
    ["exit 4", ["--nagios"], "unknown", "4"],
    ["kill -KILL $$", [], "critical", "137"],
    ["kill -TERM $$", ["--nagios"], "unknown", "143"],
  ])("reports `%s` with %j as %s", (script, options, status, code) => {
    using host = new AgentHost()
    assert.strictEqual(host.call("run", [...options, "job", ...sh(script)]).status, Number(code))
    const { events, notes } = host.kept()
    assert.deepStrictEqual(
      events.map((event) => [event.check_id, event.status, event.exit_code]),
      [["job", status, Number(code)]],
    )
    assert.deepStrictEqual([...notes], [], "its start is forgotten with its end")
  })

  it.each<[string, string, ReadonlyArray<string>, CheckStatus]>([
    ["the check's own", "checks: {job: {report_only: true, every: 1h, severity: warning}}", [], "warning"],
    [
      "the default of all",
      "defaults: {severity: unknown}\nchecks: {job: {report_only: true}}",
      [],
      "unknown",
    ],
    [
      "an option",
      "checks: {job: {report_only: true, severity: warning}}",
      ["--severity", "unknown"],
      "unknown",
    ],
    ["that of another check", "checks: {other: {report_only: true, severity: warning}}", [], "critical"],
    ["one that is not valid", "checks: {job: {report_only: true, severity: loud}}", [], "critical"],
  ])("gives a job that fails or takes too long a severity: %s", async (_, checks, options, status) => {
    using host = new AgentHost()
    writeFileSync(join(host.folder, "config.yaml"), `server: https://a.example\n${checks}\n`)
    assert.strictEqual(host.call("run", ["job", ...options, ...sh("exit 3")]).status, 3)
    assert.deepInclude(host.kept().last, { status, exit_code: 3 })
    const isDeclared = readConfig(join(host.folder, "config.yaml")).config?.checks.has("job")
    assert.strictEqual(savedJobs(host.kept().notes.get(JOBS_NOTE)).has("job"), isDeclared === true)
    host.call("run", ["job", "--timeout", "1s", ...options, ...sh("sleep 60")])
    assert.deepInclude(host.kept().last, { status, exit_code: 124 })
    host.call("run", ["job", ...options, "--", "/no/such"])
    assert.deepInclude(host.kept().last, { status, exit_code: 127 })
    const lost = host.begin("run", ["job", ...options, ...sh("echo $$; exec sleep 120")])
    await until("the start is kept", () => said(lost).includes("\n") && host.kept().notes.size > 0)
    lost.child.kill("SIGKILL")
    process.kill(Number(said(lost)), "SIGKILL")
    await lost.closed
    await until("it is reported", () => {
      reportLostJobs(host.spool, Date.UTC(2026, 0, 1))
      return host.kept().events.some((event) => event.exit_code === 255 && event.status === status)
    })
  })

  it.each(["--timeout", "--severity", "--nonsense"])("runs a job although %s is wrong", (option) => {
    using host = new AgentHost()
    const { status, stdout, stderr } = host.call("run", ["job", `${option}=never`, ...sh("echo out; exit 3")])
    assert.deepStrictEqual([status, stdout], [3, "out\n"])
    assert.match(stderr, /^tocsin-agent: the result is not reported: .*--(timeout|severity|nonsense)/)
  })

  it.each([
    ["a short one", "echo begin; echo 'no space left' >&2; echo; exit 11", "exit 11: no space left", false],
    ["a long one", "seq 1 4000; echo 'no space left'; exit 11", "exit 11: no space left", true],
    ["one in colours", "printf '\\033[31mred\\033[0m\\n'; exit 1", "exit 1: red", false],
    [
      "a line without an end",
      "head -c 20000 /dev/zero | tr '\\0' x; exit 1",
      `exit 1: ${"x".repeat(504)}`,
      true,
    ],
    [
      "characters of several bytes",
      "yes äöü€ | head -n 3000 | tr -d '\\n'; exit 1",
      /^exit 1: [äöü€]{504}$/u,
      true,
    ],
    ["nothing", "exit 7", "exit 7", false],
    ["blank lines", "echo; echo; exit 7", "exit 7", false],
    ["what is left of a job that was killed", "echo begun; kill -KILL $$", "ended by SIGKILL: begun", false],
    ["a good one", "seq 1 4000", /^\d+$/, true],
  ])("begins a failed result with how it ended: %s", (_, script, headline, isCut) => {
    using host = new AgentHost()
    const { stdout } = host.call("run", ["job", ...sh(script)])
    const { output = "", output_truncated = false } = host.kept().last ?? {}
    assert.strictEqual(output_truncated, isCut)
    if (typeof headline === "string") assert.strictEqual(headlineOf(output), headline)
    else assert.match(headlineOf(output) ?? "", headline)
    assert.isAtMost(Buffer.byteLength(output), 8_192)
    const [, lost, kept = ""] = /^(?:.*\n)?\.\.\.\[truncated (\d+) bytes\]\n([^]*)$/.exec(output) ?? []
    assert.strictEqual(lost !== undefined, isCut, "the marker stands where something is missing")
    if (!isCut) return
    assert.isTrue(stdout.trimEnd().endsWith(kept))
    assert.strictEqual(Number(lost) + Buffer.byteLength(kept), Buffer.byteLength(stdout.trimEnd()))
  })

  it("leaves the first line of a plugin, and says what is no status of one", () => {
    using host = new AgentHost()
    host.call("run", ["job", "--nagios", ...sh("echo 'DISK CRITICAL - full|a=1'; echo more; exit 2")])
    assert.strictEqual(host.kept().last?.output, "DISK CRITICAL - full|a=1\nmore")
    host.call("run", ["job", "--nagios", ...sh("echo 'no such module'; exit 9")])
    assert.strictEqual(host.kept().last?.output, "exit 9: no such module\nno such module")
  })

  it("passes each signal on once, from a call and from a terminal, and reports a result", async () => {
    using host = new AgentHost()
    const numbers = passedSignals.map(({ name }) => constants.signals[name])
    const traps = numbers.map((number) => `trap 'echo got ${number}.' ${number}`).join("; ")
    const go = join(host.folder, "go")
    const script = `${traps}; echo ready; until [ -e ${go} ]; do sleep 0.02; done; exit 4`
    const { child, said, closed } = host.begin("run", ["job", ...sh(script)])
    await until("the job is ready", () => said.text.includes("ready"))
    for (const number of numbers) {
      process.kill(child.pid ?? 0, number)
      await until(`it got signal ${number}`, () => said.text.includes(`got ${number}.`))
    }
    // As a terminal does: to every process of the group.
    process.kill(-(child.pid ?? 0), "SIGINT")
    await until("it got the second SIGINT", () => said.text.split("got 2.").length > 2)
    writeFileSync(go, "")
    await closed
    const counts = numbers.map((number) => said.text.split(`got ${number}.`).length - 1)
    assert.deepStrictEqual(
      counts,
      numbers.map((number) => (number === constants.signals.SIGINT ? 2 : 1)),
    )
    assert.strictEqual(child.exitCode, 4)
    assert.deepInclude(host.kept().last, { status: "critical", exit_code: 4 })
  })

  it("reports a job that a signal ends, whichever it is", async () => {
    for (const signal of ["SIGUSR2", "SIGALRM", "SIGXCPU"] as const) {
      using host = new AgentHost()
      const { child, said, closed } = host.begin("run", ["job", ...sh("echo ready; exec sleep 120")])
      await until("the job is ready", () => said.text.includes("ready"))
      child.kill(signal)
      await closed
      const code = 128 + constants.signals[signal]
      assert.strictEqual(child.exitCode, code)
      assert.deepInclude(host.kept().last, {
        status: "critical",
        exit_code: code,
        output: `ended by ${signal}: ready\nready`,
      })
    }
  })

  it("ends a job after its time with all of its processes, SIGTERM first and SIGKILL after it", async () => {
    using host = new AgentHost()
    const pids = join(host.folder, "pids")
    const stubborn = `trap 'echo asked' TERM; (trap '' TERM; exec sleep 120) & echo $! > ${pids}; while :; do sleep 0.1; done`
    const { child, said, closed } = host.begin("run", ["job", "--timeout", "1s", ...sh(stubborn)])
    await closed
    assert.deepStrictEqual([child.exitCode, said.text.split("asked\n").length], [124, 2])
    const { last, notes } = host.kept()
    assert.deepInclude(last, { status: "critical", exit_code: 124 })
    assert.match(last?.output ?? "", /^timed out after 1 s: asked\n[^]*asked/)
    assert.isFalse(isAlive(Number(readFileSync(pids, "utf8"))))
    assert.deepStrictEqual([...notes], [])
    assert.strictEqual(
      host.call("run", ["job", "--nagios", "--timeout", "1s", ...sh("sleep 120")]).status,
      124,
    )
    assert.deepInclude(host.kept().last, { status: "unknown", output: "timed out after 1 s" })
  })

  it.each([
    ["timeout", "timeout 60 sh -c 'echo $$ > PIDS; sleep 60'"],
    ["setsid, which begins another session and stays", "echo 0 > PIDS; setsid sleep 20"],
  ])("returns soon after a time-out, while a process holds the output: %s", async (_, script) => {
    using host = new AgentHost()
    const pids = join(host.folder, "pids")
    const job = sh(`${script.replace("PIDS", pids)}; echo never`)
    const began = performance.now()
    assert.strictEqual(host.call("run", ["job", "--timeout", "1s", ...job]).status, 124)
    assert.isBelow(performance.now() - began, 15_000)
    assert.deepInclude(host.kept().last, { status: "critical", exit_code: 124 })
    assert.isFalse(isAlive(Number(readFileSync(pids, "utf8"))))
  })

  it("leaves a run out while any process of the former one's session is left", async () => {
    using host = new AgentHost()
    const alone = ["job", "--no-overlap"]
    const script = "echo $$; timeout 120 sh -c 'echo $$; exec sleep 120'; echo over"
    const first = host.begin("run", [...alone, ...sh(script)])
    await until("the job runs", () => said(first).split("\n").length > 2 && host.kept().notes.size > 0)
    const [leader, work] = said(first).split("\n").map(Number)
    first.child.kill("SIGKILL")
    process.kill(leader ?? 0, "SIGKILL")
    await until("its shell is gone", () => !isAlive(leader ?? 0))
    assert.strictEqual(host.call("run", [...alone, ...sh("echo never")]).status, 75)
    reportLostJobs(host.spool, Date.UTC(2026, 0, 1))
    assert.strictEqual(host.kept().last?.exit_code, 75, "it is not lost")
    process.kill(work ?? 0, "SIGKILL")
    await until("its work is gone", () => !isAlive(work ?? 0))
    await until("it is reported", () => {
      reportLostJobs(host.spool, Date.UTC(2026, 0, 1))
      return host.kept().events.some((event) => event.exit_code === 255)
    })
    assert.strictEqual(host.call("run", [...alone, ...sh("exit 0")]).status, 0)
  })

  it("leaves a run out while the former one has reported and left processes in its session", async () => {
    using host = new AgentHost()
    const alone = ["job", "--no-overlap"]
    // The first run need not ask to be alone.
    const first = host.call("run", ["job", ...sh("sleep 120 > /dev/null 2>&1 & echo $!")])
    const work = Number(first.stdout)
    assert.deepInclude(host.kept().last, { check_id: "job", status: "ok" })
    assert.strictEqual(host.call("run", [...alone, ...sh("echo never")]).status, 75)
    process.kill(work, "SIGKILL")
    await until("its work is gone", () => !isAlive(work))
    reportLostJobs(host.spool, Date.UTC(2026, 0, 1))
    assert.deepStrictEqual(
      host.kept().events.map(({ exit_code }) => exit_code),
      [0, 75],
      "it is not lost",
    )
    assert.deepStrictEqual(Array.from(host.kept().notes), [])
    assert.strictEqual(host.call("run", [...alone, ...sh("exit 0")]).status, 0)
    assert.deepStrictEqual(Array.from(host.kept().notes), [])
  })

  it("leaves a run out while the former one is under way, also after that one was killed, and no longer", async () => {
    using host = new AgentHost()
    const alone = ["job", "--no-overlap"]
    const first = host.begin("run", [...alone, ...sh("echo $$; exec sleep 120")])
    await until("the job runs", () => said(first).includes("\n") && host.kept().notes.size > 0)
    const second = host.call("run", [...alone, ...sh("echo never")])
    assert.deepStrictEqual([second.status, second.stdout], [75, ""])
    assert.match(second.stderr, /not started: the run of .+ still runs \(process \d+\)/)
    assert.deepInclude(host.kept().last, { check_id: "job", status: "warning", exit_code: 75 })
    assert.strictEqual(host.call("run", ["other", "--no-overlap", ...sh("exit 0")]).status, 0)
    assert.strictEqual(host.call("run", ["job", ...sh("exit 0")]).status, 0, "only with --no-overlap")
    // Killed, the wrapper reports nothing, and its job is still there.
    first.child.kill("SIGKILL")
    await until("the wrapper is gone", () => first.child.signalCode !== null)
    assert.strictEqual(host.call("run", [...alone, ...sh("echo never")]).status, 75)
    const job = Number(said(first))
    process.kill(job, "SIGKILL")
    await until("the job is gone", () => !isAlive(job))
    assert.deepStrictEqual(host.call("run", [...alone, ...sh("echo again")]), {
      status: 0,
      stdout: "again\n",
      stderr: "",
    })
    const { events, notes } = host.kept()
    const ofJob = events.filter((event) => event.check_id === "job").map((event) => event.exit_code)
    assert.deepStrictEqual(ofJob.slice(-2), [255, 0], "the lost run is reported before the next one")
    assert.deepStrictEqual([...notes], [])
  })

  it("has the agent report a run that started and was lost, once", async () => {
    using host = new AgentHost()
    const args = ["job", "--severity", "warning", "--incident-key", "k", ...sh("echo $$; exec sleep 120")]
    const lost = host.begin("run", args)
    await until("the start is kept", () => said(lost).includes("\n") && host.kept().notes.size > 0)
    reportLostJobs(host.spool, Date.UTC(2026, 0, 1))
    assert.deepStrictEqual(host.kept().events, [], "it still runs")
    lost.child.kill("SIGKILL")
    process.kill(Number(said(lost)), "SIGKILL")
    await lost.closed
    await until("it is reported", () => {
      reportLostJobs(host.spool, Date.UTC(2026, 0, 1))
      return host.kept().events.length > 0
    })
    reportLostJobs(host.spool, Date.UTC(2026, 0, 1))
    const { events, last, notes } = host.kept()
    assert.deepStrictEqual([events.length, notes.size], [1, 0])
    assert.deepInclude(last, { check_id: "job", status: "warning", exit_code: 255, incident_key: "k" })
    assert.match(last?.output ?? "", /^started at \d{4}-.+Z and never reported its end: /)
  })
})

const said = (begun: { readonly said: { readonly text: string } }): string => begun.said.text
