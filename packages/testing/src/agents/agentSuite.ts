import { assert, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AgentUnderTest } from "./AgentUnderTest.ts"
import type { RunningAgent } from "./RunningAgent.ts"
import { agentCases, type CaseTools } from "./agentCases.ts"
import { FaultyServer } from "./FaultyServer.ts"
import { serve } from "./serve.ts"

const PATIENCE_MILLIS = 120_000
const BETWEEN_LOOKS_MILLIS = 20

/** The cases that an agent can be held to, each with its own server. */
export const agentSuite = (agent: AgentUnderTest): void => {
  const reasons: Readonly<Record<string, string>> = agent.without ?? {}
  const unknown = Object.keys(reasons).filter((name) => !Object.hasOwn(agentCases, name))
  if (unknown.length > 0)
    throw new Error(
      `no case is named ${unknown.join(", ")}: name some of ${Object.keys(agentCases).join(", ")}`,
    )
  for (const [name, run] of Object.entries(agentCases) as ReadonlyArray<
    [string, (tools: CaseTools) => Promise<void>]
  >) {
    const reason = reasons[name]
    it.skipIf(reason !== undefined)(
      `${name}${reason === undefined ? "" : ` (skipped: ${reason})`}`,
      { timeout: 2 * PATIENCE_MILLIS },
      () => holdTo(agent, run),
    )
  }
}

const holdTo = async (agent: AgentUnderTest, run: (tools: CaseTools) => Promise<void>): Promise<void> => {
  const server = new FaultyServer()
  server.now = () => new Date().getTime()
  const { address, keys, close } = await serve(server)
  const folder = mkdtempSync(join(tmpdir(), "agent-suite-"))
  const running = new Set<RunningAgent>()
  try {
    await run({
      server,
      start: async () => {
        const started = await agent.start({ url: address, agentId: "host-1", folder })
        running.add(started)
        return started
      },
      until: waitUntil,
    })
    assert.deepStrictEqual(server.invalid, [], "every request meets the contract")
    assert.deepStrictEqual(server.late, [], "nothing overtook anything")
    assert.lengthOf([...keys], 1, "it has one key")
    assert.match([...keys].join(), /^Bearer [\x21-\x7e]{16,512}$/)
  } finally {
    for (const one of running) await one.stop()
    await close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const waitUntil: CaseTools["until"] = async (what, holds, agent) => {
  const end = performance.now() + PATIENCE_MILLIS
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`)
    await agent?.nudge?.()
    if (!holds()) await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS_MILLIS))
  }
}
