import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { systemClock } from "../../src/clock/Clock.ts"
import { groupsOf, ProcessSession, ticksOf } from "../../src/checks/ProcessSession.ts"
import { runCommand } from "../../src/checks/runCommand.ts"

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))

/** Runs a script of bash to its time-out; it writes numbers of processes to the file `$PIDS`. */
const endedIn = async (script: string) => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
  const file = join(folder, "pids")
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", PIDS: file }
  const run = runCommand(
    { argv: ["/bin/bash", "-c", script], env, cwd: folder, timeoutMillis: 5_000 },
    systemClock,
  )
  const { exitCode } = await run.outcome
  const isGone = await run.gone
  const pids = readFileSync(file, "utf8").trim().split(/\s+/).map(Number)
  rmSync(folder, { recursive: true })
  return { exitCode, isGone, isRunAlive: run.isAlive(), left: pids.filter(isAlive), pids }
}

const ENDED = { exitCode: 124, isGone: true, isRunAlive: false, left: [] }

// Concurrent: a kill takes 5 s.
describe("the processes of a run that took too long", { concurrent: true, timeout: 60_000 }, () => {
  it.each([
    ["a process of `timeout`", `timeout 60 sh -c 'echo $$ > $PIDS; sleep 60'`],
    ["the same behind a pipe", `timeout 60 sh -c 'echo $$ > $PIDS; sleep 60' | cat`],
    ["the same within another", `timeout 60 timeout 50 sh -c 'echo $$ > $PIDS; sleep 60'`],
    ["a job of a shell with job control", `set -m; sleep 60 & echo $! > $PIDS; wait`],
    [
      "one whose leader ended at SIGTERM",
      `set -m; (trap '' TERM; echo $BASHPID > $PIDS; sleep 60; sleep 60) & wait`,
    ],
    [
      "a process of `timeout` that ignores SIGTERM",
      `timeout 60 sh -c 'trap "" TERM; echo $$ > $PIDS; sleep 60; sleep 60'`,
    ],
    [
      "one that begins when it is asked to end",
      `exec 2>/dev/null; trap 'set -m; (trap "" TERM; exec sleep 60) & echo $! > $PIDS; wait' TERM; while :; do sleep 0.1; done`,
    ],
    [
      "processes that fork again and again",
      `again() { (trap '' TERM; echo $BASHPID >> $PIDS; sleep 0.05; again) & }; set -m; again; sleep 60`,
    ],
  ])("are ended: %s", async (_, script) => {
    const { pids, ...found } = await endedIn(script)
    assert.deepStrictEqual(found, ENDED)
    assert.isAbove(pids.length, 0)
  })

  it("are over although one is a zombie that nothing collects", async () => {
    // Its parent has left the session.
    const program = `import os, time
if os.fork() == 0:
    if os.fork() == 0: os._exit(0)
    os.setsid()
    print(os.getpid(), file=open(os.environ["PIDS"], "w"), flush=True)
    time.sleep(20)
time.sleep(60)`
    const { left, pids, ...found } = await endedIn(`exec python3 -c '${program}'`)
    assert.deepStrictEqual([left, found], [pids, { exitCode: 124, isGone: true, isRunAlive: false }])
    for (const pid of left) process.kill(pid, "SIGKILL")
  })

  it("are left alone once they have begun another session", async () => {
    const { left, pids } = await endedIn(`setsid sleep 60 & echo $! > $PIDS; wait`)
    assert.deepStrictEqual(left, pids)
    for (const pid of left) process.kill(pid, "SIGKILL")
  })
})

describe("a session", () => {
  const begin = () => spawn("sleep", ["60"], { detached: true, stdio: "ignore" })

  it("is its leader's process group on a system that lists no processes", async () => {
    const session = new ProcessSession(begin().pid, "/no/such")
    assert.isTrue(session.isAlive())
    assert.isTrue(await session.end())
    assert.isFalse(session.isAlive())
  })

  it("is not another one whose leader got the same number", async () => {
    const child = begin()
    const pid = child.pid ?? 0
    assert.deepStrictEqual(groupsOf({ pid, ticks: ticksOf(pid) }), new Set([pid]))
    assert.deepStrictEqual(groupsOf({ pid, ticks: "1" }), new Set())
    const session = new ProcessSession(child.pid)
    assert.isTrue(await session.end())
    assert.isFalse(session.isAlive())
  })
})
