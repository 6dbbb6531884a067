import { execFile } from "node:child_process"
import type { AgentCase } from "./agentCases.ts"
import type { AgentPlace, ReportedStatus, RunningAgent } from "./RunningAgent.ts"

/** An agent in any language, for {@link agentSuite}. */
export interface AgentUnderTest {
  /** Starts the agent, which registers immediately. */
  readonly start: (place: AgentPlace) => Promise<RunningAgent>
  /** The cases that it does not do, each with the reason. */
  readonly without?: Readonly<Partial<Record<AgentCase, string>>>
}

const EXIT_CODES: Readonly<Record<ReportedStatus, string>> = {
  ok: "0",
  warning: "1",
  critical: "2",
  unknown: "3",
}

/** Commands of an agent that runs for each result. */
export interface AgentCommands {
  /** Reports one result, with `{check}`, `{status}`, `{code}` and `{text}` in place of its parts. */
  readonly report: readonly [program: string, ...args: ReadonlyArray<string>]
  /** Registers, and does nothing else. */
  readonly register: readonly [program: string, ...args: ReadonlyArray<string>]
  /** Its environment, where `{url}`, `{agent_id}` and `{folder}` name its place. */
  readonly env: Readonly<Record<string, string>>
  readonly without?: AgentUnderTest["without"]
}

/** An agent that is a command for each result, such as a line of a crontab. Exit codes do not count. */
export const agentOfCommands = ({ report, register, env, without = {} }: AgentCommands): AgentUnderTest => ({
  without,
  start: async ({ url, agentId, folder }) => {
    const fill = (text: string, values: Readonly<Record<string, string>>): string =>
      text.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) => values[name] ?? whole)
    const place = { url, agent_id: agentId, folder }
    const environment = Object.fromEntries(
      Object.entries(env).map(([name, text]) => [name, fill(text, place)]),
    )
    const run = ([program, ...args]: ReadonlyArray<string>, values: Readonly<Record<string, string>> = {}) =>
      new Promise<void>((resolve) => {
        const filled = args.map((text) => fill(text, { ...place, ...values }))
        execFile(program ?? "", filled, { env: { PATH: process.env["PATH"], ...environment } }, () =>
          resolve(),
        )
      })
    const send = (check: string, status: ReportedStatus, text: string) =>
      run(report, { check, status, code: EXIT_CODES[status], text })
    await run(register)
    return { report: send, nudge: () => send("nudge", "ok", ""), stop: async () => {} }
  },
})
