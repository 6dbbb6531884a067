import * as Instant from "@tocsin/contract/Instant"
import { instant, type KeyedShape, orUndefined, text } from "./TableShape.ts"

/**
 * The service heartbeat that all replicas share. A gap between service heartbeats is an outage of the service
 * (docs/rules.md#outages-of-the-service).
 */
export interface ServiceHeartbeatRecord {
  readonly name: "service"
  readonly beat_at: Instant.Instant
  /** The last service heartbeat before the last outage. */
  readonly outage_began_at: Instant.Instant | undefined
  /** When the last outage ended, if there was one. */
  readonly outage_ended_at: Instant.Instant | undefined
}

/**
 * The service heartbeat that a copy writes. The first server that uses the copy then sees an outage until now,
 * and gives agents time to return.
 */
export const NEVER_MARKED = Instant.fromMicros(0n)

/** Its table, of one row. */
export const service_heartbeat: KeyedShape<ServiceHeartbeatRecord, readonly ["name"]> = {
  name: "service_heartbeat",
  key: ["name"],
  locks: "rows",
  columns: {
    name: text,
    beat_at: instant,
    outage_began_at: orUndefined(instant),
    outage_ended_at: orUndefined(instant),
  },
}
