import * as Instant from "@tocsin/core/contract/Instant"
import type { SystemCounts } from "@tocsin/core/liveness/SystemCounts"
import { Storage } from "@tocsin/core/ports/Storage"
import { decideSync } from "@tocsin/core/workspace/Decision"
import { Workspace } from "@tocsin/core/workspace/Workspace"
import { Effect, Layer } from "effect"
import { loadScope } from "./loadScope.ts"
import { MemoryTables } from "./MemoryTables.ts"
import { persistChanges } from "./persistChanges.ts"
import { readRows } from "./readRows.ts"

/** Storage in Maps: nothing outlives the process. The reference for the other storages, and the fast one for tests. */
export const layer: Layer.Layer<Storage> = Layer.sync(Storage, () => make(new MemoryTables()))

const make = (tables: MemoryTables): Storage["Service"] =>
  Storage.of({
    transact: (command) =>
      Effect.map(Instant.now, (now) => {
        const workspace = new Workspace()
        const reply = decideSync(command(workspace, now), (scope) => loadScope(tables, workspace, scope))
        persistChanges(tables, workspace.changes())
        return reply
      }),
    page: (request) => Effect.sync(() => readRows(tables, request)),
    agent: (agentId) => Effect.sync(() => tables.agents.get(agentId)),
    counts: (aliveSince) => Effect.sync(() => counts(tables, aliveSince)),
    agentsWithPendingKey: (after, limit) =>
      Effect.sync(() =>
        Array.from(tables.agents.values())
          .filter((agent) => agent.pending_key_hash !== undefined && (after === undefined || agent.agent_id > after))
          .map((agent) => agent.agent_id)
          .toSorted()
          .slice(0, limit),
      ),
    purge: (limit) => Effect.sync(() => purge(tables, limit)),
    establish: (name, value) =>
      Effect.sync(() => {
        const kept = tables.established.get(name) ?? value
        tables.established.set(name, kept)
        return kept
      }),
    probe: Effect.void,
  })

const counts = (tables: MemoryTables, aliveSince: Instant.Instant): SystemCounts => {
  const agents = Array.from(tables.agents.values())
  const accepted = agents.filter((agent) => agent.admission_state === "accepted")
  const online = accepted.filter((agent) => agent.last_seen_at > aliveSince).length
  const sum = (of: (agent: (typeof agents)[0]) => number) => agents.reduce((total, agent) => total + of(agent), 0)
  return {
    agents_online: online,
    agents_offline: accepted.length - online,
    checks_ok: sum((agent) => agent.checks_ok),
    checks_warning: sum((agent) => agent.checks_warning),
    checks_critical: sum((agent) => agent.checks_critical),
    checks_unknown: sum((agent) => agent.checks_unknown),
    open_incidents: tables.openIncidents.size,
  }
}

const purge = (tables: MemoryTables, limit: number): number => {
  let left = limit
  while (left > 0) {
    const registration = tables.removedRegistrations[0]
    if (registration === undefined) break
    const checks = tables.checks.get(registration)
    for (const checkId of Array.from(checks?.keys() ?? []).slice(0, left)) {
      checks?.delete(checkId)
      left -= 1
    }
    const doomed = tables.history.filter((row) => row.registration_id === registration).slice(0, left)
    const seqs = new Set(doomed.map((row) => row.seq))
    if (seqs.size > 0) tables.history = tables.history.filter((row) => !seqs.has(row.seq))
    left -= seqs.size
    if (left === 0) break
    tables.checks.delete(registration)
    tables.knownEvents.delete(registration)
    tables.removedRegistrations.shift()
  }
  return limit - left
}
