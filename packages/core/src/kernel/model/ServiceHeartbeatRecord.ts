import * as Instant from "@tocsin/contract/formats/Instant"
import { instant, keyedTable, orUndefined, type RecordOf, text } from "./TableShape.ts"

/**
 * The service heartbeat that all replicas share. A gap between service heartbeats is an outage of the service
 * (docs/rules.md#outages-of-the-service).
 */
export const service_heartbeat = keyedTable({
  name: "service_heartbeat",
  key: ["name"],
  locks: "rows",
  columns: {
    name: text<"service">(),
    beat_at: instant,
    /** The last service heartbeat before the last outage. */
    outage_began_at: orUndefined(instant),
    /** When the last outage ended, if there was one. */
    outage_ended_at: orUndefined(instant),
  },
})
export type ServiceHeartbeatRecord = RecordOf<typeof service_heartbeat>

/**
 * The service heartbeat that a copy writes. The first server that uses the copy then sees an outage until now,
 * and gives agents time to return.
 */
export const NEVER_MARKED = Instant.fromMicros(0n)
