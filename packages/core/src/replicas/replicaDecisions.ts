import type { NotifierName } from "../contract/Status.ts"
import type { Command } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import { listingsOf, outlivedReplicas, replicaState } from "./listings.ts"
import type { ReplicaRecord } from "./ReplicaRecord.ts"

/** What a process reports of itself. */
export interface ReplicaReport extends Pick<ReplicaRecord, "id" | "version" | "policy_hash" | "started_at"> {
  readonly receivers: ReadonlyArray<NotifierName>
}

/** Writes this replica's row, and removes rows that nothing depends on. Returns the live replicas. */
export const reportReplica = (report: ReplicaReport): Command<ReadonlyArray<ReplicaRecord>> =>
  function* (workspace, now) {
    yield* ensure(workspace, { replicas: true })
    const known = workspace.replicas.group("all").find(({ id }) => id === report.id)
    workspace.replicas.put({
      ...report,
      receivers: listingsOf(known?.receivers ?? [], report.receivers, now),
      seen_at: now,
      ended_at: undefined,
    })
    for (const { id } of outlivedReplicas(workspace.replicas.group("all"), now)) workspace.replicas.delete(id)
    return workspace.replicas.group("all").filter((replica) => replicaState(replica, now) === "live")
  }

/** Records that a replica shuts down. */
export const endReplica = (replicaId: string): Command<void> =>
  function* (workspace, now) {
    yield* ensure(workspace, { replicas: true })
    const known = workspace.replicas.group("all").find(({ id }) => id === replicaId)
    if (known !== undefined) workspace.replicas.put({ ...known, ended_at: now })
  }
