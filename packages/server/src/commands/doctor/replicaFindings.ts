import type * as Instant from "@tocsin/contract/formats/Instant"
import type { ReplicaRecord } from "@tocsin/core/heart/model/ReplicaRecord"
import { agentHashes } from "@tocsin/core/features/enrolment/agentHashes"
import { type UnusableReceiver, unusableReceivers } from "@tocsin/core/heart/replicas/listedReceivers"
import { liveReplicas, policyHashes } from "@tocsin/core/heart/replicas/replicaState"
import { plural } from "../../output/texts.ts"
import { attention, attentionIf, failed, type Finding, type Findings } from "./Finding.ts"

/** The fault of a receiver that running servers cannot use. */
export const unusableText = ({ byNone, reason, receiver, replicas }: UnusableReceiver): string =>
  byNone
    ? `no running server can use the receiver ${receiver}: ${reason}`
    : `${plural(replicas, "server")} cannot use the receiver ${receiver}: ${reason}`

/** Reports that running servers hand out different files to hosts: one's script refuses another's files. */
const agentFindings = (replicas: ReadonlyArray<ReplicaRecord>, now: Instant.Instant): Findings =>
  attentionIf(
    agentHashes(replicas, now).length > 1,
    "replicas",
    "running servers hand out different agents: give them one version of Tocsin and the same files in SERVICE_AGENT_DIR, and restart them",
  )

/** Reports that servers of several versions run: a rolling upgrade has not ended, or one was forgotten. */
const versionFindings = (live: ReadonlyArray<ReplicaRecord>): Findings => {
  const versions = Array.from(new Set(live.map(({ version }) => version))).toSorted()
  return attentionIf(
    versions.length > 1,
    "replicas",
    `servers of versions ${versions.join(" and ")} run on one database: upgrade or stop the older ones; what they do not know cannot be added until then`,
  )
}

/** Reports that running servers follow different policies, and receivers that they cannot use. */
export const replicaFindings = (replicas: ReadonlyArray<ReplicaRecord>, now: Instant.Instant): Findings => {
  const live = liveReplicas(replicas, now)
  const hashes = policyHashes(live)
  const unusable = unusableReceivers(live).map((each): Finding => {
    const message = unusableText(each)
    return each.byNone ? failed("replicas", message, "failed") : attention("replicas", message)
  })
  const text = `${live.length} servers run with ${hashes.length} different policies: reload or restart those that differ; GET /ops/v1/policy lists them`
  return [
    ...attentionIf(hashes.length > 1, "replicas", text),
    ...versionFindings(live),
    ...agentFindings(replicas, now),
    ...unusable,
  ]
}
