import { Context, Effect, Layer } from "effect"
import { AgentDownload } from "../../kernel/ports/AgentDownload.ts"
import { NotFound } from "../../kernel/engine/OperationErrors.ts"
import { publicUrlOf, RuleSettings } from "../../kernel/ports/RuleSettings.ts"

const downloads = Effect.gen(function* () {
  const rules = yield* RuleSettings
  const download = yield* AgentDownload
  return {
    agentDownload:
      download === undefined
        ? Effect.fail(NO_DOWNLOAD)
        : Effect.sync(() => ({ url: publicUrlOf(rules) ?? null, ...download })),
  }
})

const NO_DOWNLOAD = new NotFound({
  message: "this server does not hand out the agent; unset SERVICE_AGENT_DOWNLOADS, or see docs/agent.md",
})

/** The files that this server hands out, with the address at which hosts reach it (docs/rules.md#agent-downloads). */
export class AgentDownloads extends Context.Service<AgentDownloads>()(
  "@tocsin/core/features/enrolment/AgentDownloads",
  { make: downloads },
) {
  static readonly layer = Layer.effect(AgentDownloads, AgentDownloads.make)
}
