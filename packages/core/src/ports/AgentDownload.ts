import { Context } from "effect"

/** The files that this server hands out to install the agent (docs/rules.md#agent-downloads). */
export interface AgentDownload {
  /** Of install.sh, in hex. The script contains the SHA-256 of every other file. */
  readonly sha256: string
  /** Of the agent. */
  readonly version: string
  readonly files: ReadonlyArray<string>
}

/** {@link AgentDownload}; absent where the process hands out nothing. */
export const AgentDownload = Context.Reference<AgentDownload | undefined>(
  "@tocsin/core/ports/AgentDownload",
  { defaultValue: () => undefined },
)
