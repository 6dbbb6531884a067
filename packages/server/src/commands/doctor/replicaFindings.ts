import type * as Instant from "@tocsin/contract/Instant"
import type { ReplicaRecord } from "@tocsin/core/model/ReplicaRecord"
import { agentHashes } from "@tocsin/core/replicas/agentHashes"
import { type UnusableReceiver, unusableReceivers } from "@tocsin/core/replicas/listedReceivers"
import { policyHashes } from "@tocsin/core/replicas/policyDifference"
import { liveReplicas } from "@tocsin/core/replicas/replicaState"
import { plural } from "../../output/texts.ts"
import { attention, failed, type Finding, type Findings } from "./Finding.ts"

/** The fault of a receiver that running servers cannot use. */
export const unusableText = ({ byNone, reason, receiver, replicas }: UnusableReceiver): string =>
  byNone
    ? `no running server can use the receiver ${receiver}: ${reason}`
    : `${plural(replicas, "server")} cannot use the receiver ${receiver}: ${reason}`

/** Reports that running servers hand out different files to hosts: one's script refuses another's files. */
const agentFindings = (replicas: ReadonlyArray<ReplicaRecord>, now: Instant.Instant): Findings =>
  agentHashes(replicas, now).length < 2
    ? []
    : [
        attention(
          "replicas",
          "running servers hand out different agents: give them one version of Tocsin and the same files in SERVICE_AGENT_DIR, and restart them",
        ),
      ]

/** Reports that running servers follow different policies, and receivers that they cannot use. */
export const replicaFindings = (replicas: ReadonlyArray<ReplicaRecord>, now: Instant.Instant): Findings => {
  const live = liveReplicas(replicas, now)
  const hashes = policyHashes(live)
  const unusable = unusableReceivers(live).map((each): Finding => {
    const message = unusableText(each)
    return each.byNone ? failed("replicas", message, "failed") : attention("replicas", message)
  })
  const findings = [...agentFindings(replicas, now), ...unusable]
  if (hashes.length < 2) return findings
  const text = `${live.length} servers run with ${hashes.length} different policies: reload or restart those that differ; GET /ops/v1/policy lists them`
  return [attention("replicas", text), ...findings]
}
