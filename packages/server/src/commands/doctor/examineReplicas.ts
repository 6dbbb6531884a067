import type * as Instant from "@tocsin/contract/Instant"
import { liveReplicas, policyHashes } from "@tocsin/core/replicas/listings"
import type { ReplicaRecord } from "@tocsin/core/model/ReplicaRecord"
import { attention, type Findings } from "./Finding.ts"

/** Reports that running servers follow different policies. */
export const replicaFindings = (replicas: ReadonlyArray<ReplicaRecord>, now: Instant.Instant): Findings => {
  const live = liveReplicas(replicas, now)
  const hashes = policyHashes(live)
  if (hashes.length < 2) return []
  const text = `${live.length} servers run with ${hashes.length} different policies: reload or restart those that differ; GET /ops/v1/policy lists them`
  return [attention("replicas", text)]
}
