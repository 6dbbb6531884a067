import type * as resources from "@tocsin/contract/enrolment/AgentDownload"
import { Context } from "effect"

/** The files that this server hands out; absent where it hands out none (docs/rules.md#agent-downloads). */
export const AgentDownload = Context.Reference<Omit<resources.AgentDownload, "url"> | undefined>(
  "@tocsin/core/kernel/ports/AgentDownload",
  { defaultValue: () => undefined },
)
