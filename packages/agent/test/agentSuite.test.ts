import { describe } from "@effect/vitest"
import { AGENT } from "@tocsin/test/processes/program"
import { agentSuite } from "@tocsin/testing/agents/agentSuite"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { spoolReport } from "../src/commands/report.ts"

const EXIT_CODES = { ok: 0, warning: 1, critical: 2, unknown: 3 } as const

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill("SIGKILL")
  await once(child, "exit")
}

describe("tocsin-agent", () => {
  agentSuite({
    start: async ({ url, agentId, folder }) => {
      const [config, state] = [join(folder, "config.yaml"), join(folder, "state")]
      writeFileSync(config, `server: ${url}\nagent_id: ${agentId}\n`)
      const child = spawn(process.execPath, [AGENT, "start", "--config", config, "--state", state], {
        stdio: "ignore",
      })
      return {
        // The work of `tocsin-agent report`, without a process for each result.
        report: async (checkId, status, output) =>
          spoolReport(
            { config, state },
            { checkId, status, exitCode: EXIT_CODES[status], output, durationMillis: 0 },
          ),
        stop: () => end(child),
      }
    },
  })
})
