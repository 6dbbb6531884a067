/**
 * A suite for agents in any language, as tests of vitest. Needs `vitest` and `@effect/vitest`,
 * which `tocsin` itself does not.
 */
export { agentSuite } from "@tocsin/testing/agents/agentSuite"
export { agentOfCommands } from "@tocsin/testing/agents/AgentUnderTest"
export type { AgentCommands, AgentUnderTest } from "@tocsin/testing/agents/AgentUnderTest"
export type { AgentPlace, ReportedStatus, RunningAgent } from "@tocsin/testing/agents/RunningAgent"
