import { Duration } from "effect"
import type { CheckId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"
import { isPaused, type WatchRecord } from "../model/WatchRecord.ts"
import { isNear, REPORT_EVERY } from "../replicas/replicaState.ts"

/** How often each replica looks for watches that are due. */
export const LOOK_EVERY = Duration.seconds(5)

/**
 * A replica that has not reported for this long probes no more: with {@link LOOK_EVERY}, another one
 * takes its watches over within 30 s of its death.
 */
const PROBES_FOR = Duration.sum(REPORT_EVERY, Duration.seconds(10))

type Prober = Pick<ReplicaRecord, "ended_at" | "id" | "probes" | "seen_at">

const probersAt = (replicas: ReadonlyArray<Prober>, now: Instant.Instant): ReadonlyArray<Prober> =>
  replicas.filter(
    ({ ended_at, probes, seen_at }) => probes && ended_at === undefined && isNear(seen_at, now, PROBES_FOR),
  )

/**
 * The prober of a watch: the one with the highest hash (rendezvous hashing), so that a replica that
 * comes or goes moves no watch between two others.
 */
const ownerOf = (
  name: CheckId,
  probers: ReadonlyArray<Prober>,
  sha256: (text: string) => string,
): string | undefined => {
  const ranked = probers.map(({ id }) => ({ id, rank: sha256(`${id}/${name}`) }))
  return ranked.toSorted((a, b) => (a.rank > b.rank ? -1 : 1))[0]?.id
}

/** When a watch is to be probed; a moment that a clock dated ahead counts as come. */
export const dueAt = ({ every_millis, next_probe_at }: WatchRecord, now: Instant.Instant): Instant.Instant =>
  next_probe_at > Instant.plus(now, Duration.millis(every_millis)) ? now : next_probe_at

/** The watches that are due, each with the one replica that is to probe it. */
export const dueProbes = (
  watches: ReadonlyArray<WatchRecord>,
  replicas: ReadonlyArray<Prober>,
  now: Instant.Instant,
  sha256: (text: string) => string,
) => {
  const probers = probersAt(replicas, now)
  return watches
    .filter((watch) => !isPaused(watch, now) && dueAt(watch, now) <= now)
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
