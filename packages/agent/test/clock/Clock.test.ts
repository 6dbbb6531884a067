import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { CheckRunner } from "../../src/checks/CheckRunner.ts"
import { runCommand } from "../../src/checks/runCommand.ts"
import { awakeClock, systemClock } from "../../src/clock/Clock.ts"
import type { RunCheck } from "../../src/config/readConfig.ts"
import { runProbe } from "../../src/checks/startCheck.ts"
import { probeFields } from "../../src/config/configFields.ts"

/** Longer than every time limit here, and than a busy agent. */
const STANDSTILL_MILLIS = 5_000
/** Answers are read in this much of its own time, on a busy machine too. */
const LIMIT_MILLIS = 4_500

/** As SIGSTOP does: time passes, and no timer or answer is looked at. */
const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDSTILL_MILLIS)

describe("after a standstill of the agent", () => {
  it("answers that arrived during a standstill count, and no time limit and no figure includes it", async () => {
    const clock = awakeClock(systemClock)
    const server = createServer((_, response) => response.end("well")).listen(0, "127.0.0.1")
    await once(server, "listening")
    // It is bound to a port.
    const { port } = server.address() as AddressInfo
    const probe = (name: "http" | "tcp", settings: object) => {
      const config = probeFields[name](settings, { path: [], refuse: assert.fail })
      return config === undefined
        ? assert.fail("the settings are invalid")
        : runProbe(config, { timeoutMillis: LIMIT_MILLIS, clock })
    }
    const runs = [
      runCommand(
        { argv: ["/bin/sh", "-c", "echo fine"], env: {}, cwd: tmpdir(), timeoutMillis: LIMIT_MILLIS },
        clock,
      ),
      probe("http", { url: `http://127.0.0.1:${port}/`, wait: "4s", critical: 4.5 }),
      probe("tcp", { host: "127.0.0.1", port, wait: "4s", critical: 4.5 }),
    ]
    standStill()
    const found = await Promise.all(runs.map(({ outcome }) => outcome))
    server.close()
    clock.stop()
    assert.deepStrictEqual(
      found.map(({ status, durationMillis }) => [status, durationMillis < STANDSTILL_MILLIS]),
      runs.map(() => ["ok", true]),
    )
  })

  it("a check whose run ended meanwhile is not skipped", async () => {
    const skipped: Array<string> = []
    const check: RunCheck = {
      kind: "run",
      id: "short",
      work: { kind: "command", argv: ["/bin/sleep", "0.3"] },
      everyMillis: 1_000,
      timeoutMillis: 1_000,
      env: new Map(),
      confirm: undefined,
      incidentKey: undefined,
      notificationsEnabled: true,
      graceMillis: undefined,
      severity: undefined,
      incident: undefined,
      labels: new Map(),
      numbers: undefined,
    }
    const clock = awakeClock(systemClock)
    let starts = 0
    await new Promise<void>((resolve) => {
      const runner = new CheckRunner({
        clock: systemClock,
        start: () => {
          // The second run shows what became of the first.
          if (starts++ === 0) setImmediate(standStill)
          else setImmediate(() => void runner.stop().then(resolve))
          return runCommand(
            { argv: ["/bin/sleep", "0.3"], env: {}, cwd: tmpdir(), timeoutMillis: 1_000 },
            clock,
          )
        },
        report: () => {},
        keep: () => {},
        lastOf: () => undefined,
        skipped: (id) => void skipped.push(id),
      })
      runner.plan({ agentId: "host", checks: new Map([[check.id, check]]), maxParallel: 1 })
    })
    clock.stop()
    assert.deepStrictEqual(skipped, [])
  })

  it("an answer that does not come is late by the time in which the agent ran", async () => {
    const clock = awakeClock(systemClock)
    const run = runCommand({ argv: ["/bin/sleep", "60"], env: {}, cwd: tmpdir(), timeoutMillis: 300 }, clock)
    standStill()
    const { exitCode } = await run.outcome
    clock.stop()
    assert.strictEqual(exitCode, 124)
  })
})
