import { AgentPathParameters } from "@tocsin/contract/v1/Parameters"
import { Checks } from "@tocsin/core/heart/usecases/Checks"
import { Effect } from "effect"
import { notFound } from "../CommandFailure.ts"
import { titledText } from "../output/texts.ts"
import { actOn } from "./define.ts"
import * as flags from "./flags.ts"

const noSuchAgent = notFound("there is no such agent: list agents with tocsin agents list")

export const titleAgent = actOn(Checks.layer)({
  name: "title",
  description: "Give an agent a title, which messages and pages show; an empty one takes it back",
  parameters: { id: flags.argument("AGENT_ID", "The agent"), title: flags.titleArgument },
  reads: Effect.fnUntraced(function* ({ id, title: given }) {
    const named = yield* flags.readArguments(AgentPathParameters, { agent_id: id })
    return { ...named, title: yield* flags.titleIn(given) }
  }),
  refused: { NotFound: () => noSuchAgent },
})(function* ({ agent_id, title }) {
  const titled = Checks.use((operations) => operations.titleAgent(agent_id, title ?? undefined))
  const { count } = yield* Effect.catchTag(titled, "AgentNotFound", () => Effect.fail(noSuchAgent))
  return { answer: { count }, text: titledText(agent_id, title) }
})
