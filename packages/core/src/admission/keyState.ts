import type { KeyHash } from "../contract/Identifiers.ts"
import type { Command } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { AgentKeyRecord } from "./AgentKeyRecord.ts"

/** Looks up the state of a key, whatever its agent. Changes nothing. */
export const keyState = (key: KeyHash): Command<AgentKeyRecord["state"] | "unknown"> =>
  function* (workspace) {
    yield* ensure(workspace, { keys: [key] })
    return workspace.keys.get(key)?.state ?? "unknown"
  }
