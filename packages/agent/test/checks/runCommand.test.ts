import { assert, describe, it } from "@effect/vitest"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/clock/Clock.ts"
import { runCommand } from "../../src/checks/runCommand.ts"

const PATH = "/usr/local/bin:/usr/bin:/bin"

const start = (argv: ReadonlyArray<string>, timeoutMillis = 30_000, env: Record<string, string> = {}) =>
  runCommand({ argv, env: { PATH, ...env }, cwd: tmpdir(), timeoutMillis }, systemClock)

const sh = (script: string, timeoutMillis?: number) => start(["/bin/sh", "-c", script], timeoutMillis)

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

// Concurrent: the kill of a group takes 5 s.
describe("a run of a command", { concurrent: true }, () => {
  it.each([
    ["exit 0", "ok", 0],
    ["exit 1", "warning", 1],
    ["exit 2", "critical", 2],
    ["exit 3", "unknown", 3],
    ["exit 4", "unknown", 4],
    ["exit 255", "unknown", 255],
    ["kill -SEGV $$", "unknown", 139],
  ] as const)("%s is %s", async (script, status, exitCode) => {
    const outcome = await sh(script).outcome
    assert.deepStrictEqual([outcome.status, outcome.exitCode], [status, exitCode])
  })

  it("reports what the system says about a command that is missing or not executable", async () => {
    const missing = await start(["/no/such"]).outcome
    assert.deepStrictEqual([missing.status, missing.exitCode], ["unknown", 127])
    assert.include(missing.output, "no such file")
    const denied = await start(["/etc/passwd"]).outcome
    assert.deepStrictEqual([denied.status, denied.exitCode], ["unknown", 126])
    assert.include(denied.output, "permission denied")
  })

  it("takes standard output, or standard error where that is empty, without trailing newlines", async () => {
    assert.strictEqual((await sh("echo out; echo err >&2; echo; echo").outcome).output, "out")
    assert.strictEqual((await sh("echo err >&2").outcome).output, "err")
    assert.strictEqual((await sh("echo '  '; echo err >&2").outcome).output, "err")
  })

  it("reads everything and keeps 64 KiB, and 32 KiB of the end in whole words", async () => {
    const outcome = await sh("head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2; exit 1").outcome
    assert.strictEqual(outcome.exitCode, 1)
    assert.strictEqual(outcome.output, `${"x".repeat(65_536)}\n${"x".repeat(32_768)}`)
    assert.strictEqual(outcome.droppedBytes, 3_000_000 - 65_536 - 32_768 - 1)
    const lines = await sh("seq 40000 | sed 's|.*|n&=&|'; echo '| last=7'").outcome
    assert.isTrue(lines.output.startsWith("n1=1\n") && lines.output.endsWith("n40000=40000\n| last=7"))
    for (const line of lines.output.split("\n").slice(0, -1)) assert.match(line, /^n(\d+)=\1$/)
    const noisy = await sh("echo out; head -c 300000 /dev/zero | tr '\\0' x >&2").outcome
    assert.deepStrictEqual([noisy.output, noisy.droppedBytes], ["out", 0])
  })

  it("clears the environment", async () => {
    process.env["LEAKED"] = "secret"
    try {
      const { output } = await start(["/usr/bin/env"], 30_000, { GIVEN: "yes" }).outcome
      assert.deepStrictEqual(output.split("\n").toSorted(), ["GIVEN=yes", `PATH=${PATH}`])
    } finally {
      delete process.env["LEAKED"]
    }
  })

  it("reports a time-out at the deadline, and kills the whole group 5 s later", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
    const file = join(folder, "pid")
    const script = `trap '' TERM; (trap '' TERM; echo $$ > ${file}; sleep 60; sleep 60) & echo begun; wait; sleep 60`
    const run = sh(script, 1_000)
    const outcome = await run.outcome
    assert.deepStrictEqual([outcome.status, outcome.exitCode], ["unknown", 124])
    assert.strictEqual(outcome.output, "timed out after 1 s\nbegun")
    assert.isTrue(run.isAlive())
    assert.isTrue(await run.gone)
    assert.isFalse(isThere(Number(readFileSync(file, "utf8"))))
    rmSync(folder, { recursive: true })
  })

  it("is gone after a stop only when the whole group is, however soon its leader ends", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
    const file = join(folder, "pid")
    const run = sh(`(trap '' TERM; echo $$ > ${file}; sleep 60; sleep 60) & echo begun; wait; echo over`)
    while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 10))
    run.stop()
    await run.outcome
    assert.isTrue(await run.gone)
    assert.isFalse(run.isAlive())
    rmSync(folder, { recursive: true })
  })

  it("does not wait for a background process that keeps the output open", async () => {
    const outcome = await sh("echo done; sleep 20 & exit 2").outcome
    assert.deepStrictEqual([outcome.exitCode, outcome.output], [2, "done"])
    assert.isBelow(outcome.durationMillis, 15_000)
  })

  it("has ended in time where only its output is open at the deadline", async () => {
    const outcome = await sh("echo done; sleep 20 & exit 0", 1_000).outcome
    assert.deepStrictEqual([outcome.status, outcome.output], ["ok", "done"])
  })

  it("runs a script that has no interpreter line as a shell does", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
    const file = join(folder, "plugin")
    writeFileSync(file, "echo PLUGIN OK; exit 0\n", { mode: 0o755 })
    assert.isTrue(existsSync(file))
    const outcome = await start([file]).outcome
    assert.deepStrictEqual([outcome.status, outcome.output], ["ok", "PLUGIN OK"])
    rmSync(folder, { recursive: true })
  })
})
