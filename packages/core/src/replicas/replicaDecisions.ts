import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import type { NotifierName } from "@tocsin/contract/Status"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import { listingsOf, outlivedReplicas } from "./listings.ts"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"

/** The report of a process about itself. */
export interface ReplicaReport extends Pick<
  ReplicaRecord,
  "id" | "version" | "policy_hash" | "probes" | "started_at"
> {
  readonly receivers: ReadonlyArray<NotifierName>
  /** Those that it cannot use, each with the reason. */
  readonly unavailable?: ReadonlyMap<NotifierName, string> | undefined
  /** Whether its policy states nothing, as without a policy file. */
  readonly isEmptyPolicy: boolean
}

/**
 * Whether a report shows that another policy came into force: the replica had another one, or it
 * starts with one that no row names. The first server of an installation without a policy does not.
 */
const isReplaced = (
  rows: ReadonlyArray<ReplicaRecord>,
  { id, isEmptyPolicy, policy_hash }: ReplicaReport,
): boolean => {
  const known = rows.find((replica) => replica.id === id)
  if (known !== undefined) return known.policy_hash !== policy_hash
  if (rows.length === 0) return !isEmptyPolicy
  return rows.every((replica) => replica.policy_hash !== policy_hash)
}

/**
 * Writes this replica's row, and removes rows that nothing depends on. Records in the audit that
 * another policy is in force. Returns all rows, also those that it removes.
 */
export const reportReplica = commandOf(function* (
  unit,
  now,
  report: ReplicaReport,
  signature: Signature,
): Decision<ReadonlyArray<ReplicaRecord>> {
  yield* load(unit, { groups: { replica: ["all"] } })
  const rows = unit.of("replica").group("all")
  const known = rows.find(({ id }) => id === report.id)
  if (isReplaced(rows, report)) {
    const former = known?.policy_hash
    recordAudit(unit, now, signature, "policy.replaced", [report.policy_hash], { former })
  }
  const { isEmptyPolicy: _, unavailable, ...row } = report
  unit.of("replica").put({
    ...row,
    receivers: listingsOf(known?.receivers ?? [], report.receivers, now, unavailable),
    seen_at: now,
    ended_at: undefined,
  })
  const replicas = unit.of("replica").group("all")
  for (const { id } of outlivedReplicas(replicas, now)) unit.of("replica").delete(id)
  return replicas
})

/** Records that a replica shuts down. */
export const endReplica = commandOf(function* (unit, now, replicaId: string): Decision<void> {
  yield* load(unit, { groups: { replica: ["all"] } })
  const known = unit
    .of("replica")
    .group("all")
    .find(({ id }) => id === replicaId)
  if (known !== undefined) unit.of("replica").put({ ...known, ended_at: now })
})
