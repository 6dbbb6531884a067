import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import { Storage, type StorageError } from "@tocsin/core/kernel/ports/Storage"
import { agentRecord } from "@tocsin/testing/records"
import { Context, Effect, Layer, type Scope } from "effect"
import * as SqliteStorage from "../src/SqliteStorage.ts"

/** The path of a database file that does not exist yet, in a folder that goes with the scope. */
export const scratchFile: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-sqlite-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
  ),
  (folder) => join(folder, "tocsin.db"),
)

/** Opens a storage until the end of the scope. */
export const openStorage = (
  file: string,
  options: Omit<SqliteStorage.SqliteStorageOptions, "file"> = {},
): Effect.Effect<Storage["Service"], StorageError, Scope.Scope> =>
  Effect.map(Layer.build(Layer.fresh(SqliteStorage.layer({ ...options, file }))), (services) =>
    Context.get(services, Storage),
  )

/** Writes an agent; its reply is the agent's name. */
export const putAgent = (name: string, changes: Partial<AgentRecord> = {}): Command<string> =>
  // oxlint-disable-next-line eslint/require-yield -- it has to see nothing
  function* (unit) {
    unit.agents.put(agentRecord(name, changes))
    return name
  }

/** The ids of all agents. */
export const agentIds = (storage: Storage["Service"]): Effect.Effect<ReadonlyArray<string>, StorageError> =>
  Effect.map(
    storage.page({
      list: "agents",
      filter: {},
      sort: "agent_id",
      direction: "asc",
      from: undefined,
      isBackward: false,
      limit: 100_000,
    }),
    (agents) => agents.map((agent) => agent.agent_id),
  )

/** `count` names that sort as they are numbered. */
export const names = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, n) => `agent-${n.toString().padStart(5, "0")}`)
