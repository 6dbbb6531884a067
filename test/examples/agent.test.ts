import { execFile } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { lacking } from "../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const SCRIPT = fileURLToPath(new URL("../../examples/agent.sh", import.meta.url))
const TOKEN = "operator-token"

interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** A service in memory and a host whose agent has no other settings. */
const makeHost = Effect.gen(function* () {
  const cwd = yield* scratchFolder
  const { baseUrl } = yield* startServer({
    cwd,
    environment: { DATABASE_URL: "memory:", SERVICE_AUTH_TOKEN: TOKEN },
  })
  const state = (...path: ReadonlyArray<string>) => join(cwd, "agent", ...path)
  const runAt = (url: string, args: ReadonlyArray<string>) =>
    Effect.callback<Ran>((resume) => {
      const env = { PATH: process.env["PATH"], TOCSIN_URL: url, TOCSIN_STATE_DIR: state() }
      execFile("sh", [SCRIPT, ...args], { env }, (error, stdout, stderr) =>
        resume(
          Effect.succeed({ exitCode: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
        ),
      )
    })
  const operator = (method: string, path: string) =>
    Effect.promise(async () => {
      const headers = { authorization: `Bearer ${TOKEN}` }
      const answer = await fetch(`${baseUrl}/api/v1/${path}`, { method, headers })
      // The contract's items at these paths; the suites of the HTTP API hold it to that.
      return (await answer.json()) as { readonly items: ReadonlyArray<Record<string, unknown>> }
    })
  return {
    state,
    // With the slash that browsers add.
    agent: (...args: ReadonlyArray<string>) => runAt(`${baseUrl}/`, args),
    agentCutOff: (...args: ReadonlyArray<string>) => runAt("http://127.0.0.1:1", args),
    agents: Effect.map(operator("GET", "agents"), ({ items }) => items),
    history: Effect.map(operator("GET", "events/query"), ({ items }) => items),
    acceptAll: operator("POST", "agents/admission/accept-all"),
  }
})

const withoutCurl = lacking("curl")

// Concurrent: curl repeats a request after seconds.
describe.skipIf(withoutCurl !== undefined)(
  `examples/agent.sh${skippedFor(withoutCurl)}`,
  { concurrent: true },
  () => {
    it.live("registers under the hostname, prints its fingerprint, and reports once accepted", () =>
      Effect.gen(function* () {
        const { agent, agents, acceptAll, history, state } = yield* makeHost
        const first = yield* agent("disk", "sh", "-c", "echo 'DISK CRITICAL \"/\" \\ 97%'; exit 2")
        assert.strictEqual(first.exitCode, 2)
        const [registered] = yield* agents
        assert.strictEqual(registered?.["agent_id"], hostname().replaceAll(/[^A-Za-z0-9._:-]/g, "-"))
        assert.include(first.stderr, `fingerprint ${String(registered?.["key_fingerprint"])}`)
        yield* acceptAll
        assert.deepStrictEqual(yield* agent("disk", "sh", "-c", "echo fine"), {
          exitCode: 0,
          stdout: "",
          stderr: "",
        })
        assert.deepStrictEqual(
          (yield* history).map((event) => [event["status"], event["exit_code"], event["output"]]),
          [
            ["ok", 0, "fine"],
            ["critical", 2, 'DISK CRITICAL "/" \\ 97%'],
          ],
        )
        assert.deepStrictEqual(readdirSync(state("spool")), [])
      }),
    )

    it.live("prints its help without creating a key", () =>
      Effect.gen(function* () {
        const { agent, state } = yield* makeHost
        for (const flag of ["--help", "-h"]) {
          const { exitCode, stdout, stderr } = yield* agent(flag)
          assert.deepStrictEqual([exitCode, stderr], [0, ""])
          assert.match(stdout, /^A sender for cron/)
          assert.include(stdout, "TOCSIN_STATE_DIR")
        }
        assert.isFalse(existsSync(state()))
      }),
    )

    it.live("reports in one line that nothing answers", () =>
      Effect.gen(function* () {
        const { agentCutOff, state } = yield* makeHost
        const heartbeat = yield* agentCutOff()
        const report = yield* agentCutOff("disk", "true")
        const reason =
          /^agent\.sh: no answer from http:\/\/127\.0\.0\.1:1; check that the service is running \(curl: [^\n]*\)/
        for (const { exitCode, stderr } of [heartbeat, report]) {
          assert.strictEqual(exitCode, 2)
          assert.match(stderr, reason)
          assert.lengthOf(stderr.split("\n"), 2)
        }
        assert.include(report.stderr, `; results wait in ${state("spool")} for the next run\n`)
      }),
    )

    it.live("cuts a long output between characters, and reports how much", () =>
      Effect.gen(function* () {
        const { agent, acceptAll, history } = yield* makeHost
        yield* agent()
        yield* acceptAll
        const print = "i=0; while [ $i -lt 3000 ]; do printf 'déjà '; i=$((i + 1)); done"
        assert.deepStrictEqual(yield* agent("long", "sh", "-c", print), {
          exitCode: 0,
          stdout: "",
          stderr: "",
        })
        const [event] = yield* history
        const output = String(event?.["output"])
        const whole = "déjà ".repeat(3_000)
        assert.isTrue(event?.["output_truncated"])
        assert.isAtMost(Buffer.byteLength(output), 8_192)
        const [, kept = "", bytes = ""] = /^(.*)\.\.\.\[truncated (\d+) bytes\]$/.exec(output) ?? []
        assert.strictEqual(Buffer.byteLength(kept) + Number(bytes), Buffer.byteLength(whole))
        assert.isTrue(kept !== "" && whole.startsWith(kept))
      }),
    )

    it.live("keeps unsent results for the next run, and never shows its key", () =>
      Effect.gen(function* () {
        const { agent, agentCutOff, acceptAll, history, state } = yield* makeHost
        yield* agent()
        yield* acceptAll
        const away = yield* agentCutOff("-k", "rack 4", "disk", "sh", "-c", "exit 1")
        assert.strictEqual(away.exitCode, 2)
        assert.strictEqual(readdirSync(state("spool")).length, 1)
        assert.strictEqual((yield* agent("-n", "load", "sh", "-c", "exit 3")).exitCode, 0)
        const told = ["check_id", "status", "notifications_enabled", "incident_key"]
        assert.deepStrictEqual(
          (yield* history).map((event) => told.map((field) => event[field])),
          [
            ["load", "unknown", false, undefined],
            ["disk", "warning", true, "rack 4"],
          ],
        )
        const [, key = ""] = /Bearer (\S+)/.exec(readFileSync(state("authorization"), "utf8")) ?? []
        assert.match(key, /^[0-9a-f]{64}$/)
        assert.notInclude(away.stderr, key)
      }),
    )
  },
)
