import { assert } from "@effect/vitest"
import { type Fault, type FaultyServer, POISON } from "./FaultyServer.ts"
import type { RunningAgent } from "./RunningAgent.ts"

/** The tools of a case. */
export interface CaseTools {
  readonly server: FaultyServer
  /** Starts the agent, again with the same folder after a stop. */
  readonly start: () => Promise<RunningAgent>
  /** Waits, nudging the agent, until something holds. */
  readonly until: (what: string, holds: () => boolean, agent?: RunningAgent) => Promise<void>
}

const arrives = (server: FaultyServer, check: string, ...changes: ReadonlyArray<string>) =>
  [
    `${check} arrives as ${changes.join(", ")}`,
    () => (server.changes.get(check) ?? []).join() === changes.join(),
  ] as const

/** A fault until results have met it, then none: every change arrives, in order, once. */
const survives =
  (fault: Fault) =>
  async ({ server, start, until }: CaseTools): Promise<void> => {
    const agent = await start()
    await agent.report("disk", "ok", "first")
    await until(...arrives(server, "disk", "ok 0"), agent)
    server.fault = fault
    const before = server.requests.length
    await agent.report("disk", "critical", "second")
    await agent.report("disk", "warning", "third")
    const met = () => server.requests.slice(before)
    await until("a request has met the fault", () => met().length > 0, agent)
    server.sparesHeartbeats = true
    await until("results have met the fault", () => met().some(({ kind }) => kind === "events"), agent)
    server.fault = "none"
    await until(...arrives(server, "disk", "ok 0", "critical 2", "warning 1"), agent)
    await agent.stop()
  }

const LONG = "déjà vu 🙂 ".repeat(2_000)
const MAX_OUTPUT_BYTES = 8_192
const STRANGE = 'a "quoted" \\ back\tslash\nsecond line, é 漢 🙂 $HOME `date` %s {}'

/** Requirements for agents in any language. After each, every request has met the contract. */
export const agentCases = {
  "registers with a heartbeat before it sends results": async ({ server, start, until }) => {
    const agent = await start()
    await agent.report("disk", "ok", "fine")
    await until(...arrives(server, "disk", "ok 0"), agent)
    assert.strictEqual(server.requests[0]?.kind, "heartbeat")
    await agent.stop()
  },
  "sends every change of a check in order": async ({ server, start, until }) => {
    const agent = await start()
    for (const status of ["ok", "critical", "unknown", "warning", "ok"] as const)
      await agent.report("disk", status, status)
    await until(...arrives(server, "disk", "ok 0", "critical 2", "unknown 3", "warning 1", "ok 0"), agent)
    await agent.stop()
  },
  "sends any text unchanged": async ({ server, start, until }) => {
    const agent = await start()
    await agent.report("strange", "warning", STRANGE)
    await until(...arrives(server, "strange", "warning 1"), agent)
    assert.strictEqual(server.outputs.get("strange"), STRANGE)
    await agent.stop()
  },
  "cuts a long text between characters, and says how much is missing": async ({ server, start, until }) => {
    const agent = await start()
    await agent.report("long", "ok", LONG)
    await until(...arrives(server, "long", "ok 0"), agent)
    const output = server.outputs.get("long") ?? ""
    const [, kept = "", missing = ""] = /^([^]*)\.\.\.\[truncated (\d+) bytes\]$/.exec(output) ?? []
    assert.isAtMost(Buffer.byteLength(output), MAX_OUTPUT_BYTES)
    assert.isTrue(kept.length > 1_000 && LONG.startsWith(kept))
    assert.strictEqual(Buffer.byteLength(kept) + Number(missing), Buffer.byteLength(LONG))
    await agent.stop()
  },
  "loses nothing while nothing answers": survives("nothing"),
  "loses nothing while the server fails": survives("500"),
  "loses nothing when an answer breaks off": survives("half"),
  "sends a result with the same ID again when the answer is lost": survives("lost"),
  "waits as long as Retry-After asks": async ({ server, start, until }) => {
    const agent = await start()
    await agent.report("disk", "ok", "first")
    await until(...arrives(server, "disk", "ok 0"), agent)
    server.retryAfterSeconds = 1
    server.fault = "429"
    const before = server.requests.length
    await agent.report("disk", "critical", "second")
    await until("it is refused", () => server.requests.length > before, agent)
    server.fault = "none"
    await until(...arrives(server, "disk", "ok 0", "critical 2"), agent)
    const [refused, next] = server.requests.slice(before)
    assert.isAtLeast((next?.at ?? 0) - (refused?.at ?? 0), 990)
    await agent.stop()
  },
  "sends the others when the server refuses one result": async ({ server, start, until }) => {
    server.fault = "500"
    const agent = await start()
    await agent.report("disk", "critical", "one")
    await agent.report("web", "ok", POISON)
    await agent.report("load", "warning", "two")
    server.fault = "none"
    await until(...arrives(server, "disk", "critical 2"), agent)
    await until(...arrives(server, "load", "warning 1"), agent)
    assert.isFalse(server.changes.has("web"))
    await agent.stop()
  },
  "keeps results until its key is accepted": async ({ server, start, until }) => {
    server.isAccepted = false
    const agent = await start()
    await agent.report("disk", "critical", "one")
    await until("it registers", () => server.requests.length > 0, agent)
    await agent.stop()
    server.isAccepted = true
    const again = await start()
    await until(...arrives(server, "disk", "critical 2"), again)
    await again.stop()
  },
  "keeps its key and its results when it is restarted": async ({ server, start, until }) => {
    server.fault = "500"
    const agent = await start()
    for (const status of ["critical", "ok"] as const) await agent.report("disk", status, status)
    await agent.stop()
    server.fault = "none"
    const again = await start()
    await again.report("disk", "warning", "later")
    await until(...arrives(server, "disk", "critical 2", "ok 0", "warning 1"), again)
    await again.stop()
  },
} as const satisfies Readonly<Record<string, (tools: CaseTools) => Promise<void>>>

/** The name of a case. */
export type AgentCase = keyof typeof agentCases
