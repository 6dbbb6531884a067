import type * as Instant from "@tocsin/contract/formats/Instant"
import type { ReplicaRecord } from "../../heart/model/ReplicaRecord.ts"
import { liveReplicas } from "../../heart/replicas/replicaState.ts"

/** The SHA-256 of the install.sh that live replicas hand out, each once; more than one means they differ. */
export const agentHashes = (
  replicas: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): ReadonlyArray<string> =>
  Array.from(new Set(liveReplicas(replicas, now).flatMap(({ agent_sha256 }) => agent_sha256 ?? [])))
