import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ReplicaRecord } from "../../heart/model/ReplicaRecord.ts"
import { isPaused, type WatchRecord } from "./WatchRecord.ts"
import { isFromHere } from "./watchPlaces.ts"
import { mayOwn, ownerOf } from "../../heart/replicas/ownerOf.ts"

type Prober = Pick<ReplicaRecord, "ended_at" | "id" | "probes" | "seen_at">

/** When a watch is to be probed; a moment that a clock dated ahead counts as come. */
export const dueAt = ({ every_millis, next_probe_at }: WatchRecord, now: Instant.Instant): Instant.Instant =>
  next_probe_at > Instant.plus(now, Duration.millis(every_millis)) ? now : next_probe_at

/** The watches that are due, each with the one replica that is to probe it (docs/rules.md#watches). */
export const dueProbes = (
  watches: ReadonlyArray<WatchRecord>,
  replicas: ReadonlyArray<Prober>,
  now: Instant.Instant,
  sha256: (text: string) => string,
) => {
  const probers = replicas.filter((replica) => replica.probes && mayOwn(replica, now))
  return watches
    .filter((watch) => isFromHere(watch) && !isPaused(watch, now) && dueAt(watch, now) <= now)
    .map((watch) => ({ watch, owner: ownerOf(watch.name, probers, sha256) }))
}

const PHASE_DIGITS = 12
const MICROS_PER_MILLI = 1_000n

/**
 * The first moment after now at which a watch is due: a whole number of periods since 1970, and a part
 * that its name decides, so that watches spread over the period and a restart changes nothing.
 */
export const nextProbeAt = (
  { every_millis, name }: Pick<WatchRecord, "every_millis" | "name">,
  now: Instant.Instant,
  sha256: (text: string) => string,
): Instant.Instant => {
  const every = BigInt(every_millis) * MICROS_PER_MILLI
  const phase = BigInt(`0x${sha256(name).slice(0, PHASE_DIGITS)}`) % every
  const periods = (now - phase) / every + 1n
  return Instant.fromMicros(phase + periods * every)
}
