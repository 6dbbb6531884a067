import { Schema } from "effect"
import { cleanOutput } from "./CheckOutput.ts"
import { CheckResultEvent, type EventBatchRequest, hasBatchSize } from "./EventBatchRequest.ts"
import { AgentId, type CheckId, type EventId, type IncidentKey } from "./Identifiers.ts"
import * as Instant from "./Instant.ts"

/**
 * The encoded side of EventBatchRequest, except that it does not see unknown fields and dates that do not exist.
 * With nothing to transform and nothing to copy, a schema compiler makes one straight function of it.
 */
export const EventBatchWire = Schema.Struct({
  agent_id: AgentId,
  // The encoded side of an array of transformed items would have lost the array's own check.
  events: Schema.Array(Schema.toEncoded(Schema.Struct(CheckResultEvent.fields))).check(hasBatchSize),
})
type EventWire = (typeof EventBatchWire.Type)["events"][number]

const isEventBatchWire = Schema.is(EventBatchWire)

const FIELDS_OF_BATCH = 2
const REQUIRED_FIELDS_OF_EVENT = 6
const fieldCount = (value: object): number => Object.keys(value).length

const readEvent = (wire: EventWire): CheckResultEvent | undefined => {
  const observed_at = Instant.parse(wire.observed_at)
  if (observed_at === undefined) return undefined
  const { output, output_truncated, notifications_enabled, incident_key } = wire
  let known = REQUIRED_FIELDS_OF_EVENT
  if (output !== undefined) known++
  if (output_truncated !== undefined) known++
  if (notifications_enabled !== undefined) known++
  if (incident_key !== undefined) known++
  if (fieldCount(wire) !== known) return undefined
  return {
    // EventBatchWire has applied the checks that these brands stand for.
    event_id: wire.event_id as EventId,
    check_id: wire.check_id as CheckId,
    observed_at,
    status: wire.status,
    exit_code: wire.exit_code,
    duration_ms: wire.duration_ms,
    ...(output === undefined ? undefined : { output: cleanOutput(output) }),
    output_truncated: output_truncated ?? false,
    notifications_enabled: notifications_enabled ?? true,
    ...(incident_key === undefined ? undefined : { incident_key: incident_key as IncidentKey }),
  }
}

/**
 * Decodes the body of POST /api/v1/events as the schema EventBatchRequest does, about three times as fast: events are
 * what most of the load consists of. `undefined` for a body that does not fit; the schema then says why.
 */
export const readEventBatch = (body: unknown): EventBatchRequest | undefined => {
  if (!isEventBatchWire(body) || fieldCount(body) !== FIELDS_OF_BATCH) return undefined
  const events: Array<CheckResultEvent> = []
  for (const wire of body.events) {
    const event = readEvent(wire)
    if (event === undefined) return undefined
    events.push(event)
  }
  return { agent_id: body.agent_id, events }
}
