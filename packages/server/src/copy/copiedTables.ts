import type { CopiedColumn, CopiedTable } from "@tocsin/core/ports/Copy"

const columns = (type: CopiedColumn["type"], names: string): ReadonlyArray<CopiedColumn> =>
  names.split(" ").map((name) => ({ name, type }))

const table = (
  name: string,
  key: string,
  ...groups: ReadonlyArray<ReadonlyArray<CopiedColumn>>
): CopiedTable => ({
  name,
  key: key.split(" "),
  columns: groups.flat(),
})

/**
 * Every table of a storage, referenced tables first. Derived columns are missing (ranks, totals,
 * the newest row of a check): the target computes them again.
 */
export const copiedTables: ReadonlyArray<CopiedTable> = [
  table("established", "name", columns("text", "name value")),
  table("mark", "name", columns("text", "name"), columns("integer", "marked_at outage_ended_at")),
  table(
    "agent",
    "agent_id",
    columns("uuid", "registration_id"),
    columns("text", "agent_id admission_state hostname key_fingerprint"),
    columns("text", "accepted_key_hash pending_key_hash heartbeat_incident_id"),
    columns("integer", "observed_at last_seen_at registered_at"),
    columns("integer", "checks_ok checks_warning checks_critical checks_unknown"),
    columns("json", "features labels"),
  ),
  table(
    "agent_key",
    "key_hash",
    columns("text", "key_hash key_fingerprint agent_id state blacklist_id hostname"),
    columns("integer", "created_at last_seen_at blocked_at"),
  ),
  table(
    "check_state",
    "agent_id check_id registration_id",
    columns("text", "agent_id check_id status incident_id incident_key summary"),
    columns("uuid", "registration_id"),
    columns("integer", "exit_code last_observed_at received_at"),
    columns("json", "seen_event_ids"),
  ),
  table(
    "check_event",
    "seq",
    columns("integer", "seq observed_at received_at exit_code duration_ms"),
    columns("uuid", "registration_id event_id"),
    columns("text", "agent_id check_id status incident_key output"),
    columns("boolean", "output_truncated notifications_enabled"),
  ),
  table(
    "incident",
    "id",
    columns(
      "text",
      "id kind incident_key state severity agent_id check_id opener_agent_id opener_check_id summary",
    ),
    columns("integer", "opened_at resolved_at"),
    columns("integer", "member_changes members_warning members_unknown members_critical"),
  ),
  table(
    "incident_member",
    "incident_id agent_id check_id",
    columns("text", "incident_id agent_id check_id severity summary"),
    columns("integer", "change_seq joined_at left_at"),
  ),
  table(
    "incident_change",
    "incident_id seq",
    columns("text", "incident_id change agent_id check_id severity incident_severity"),
    columns("integer", "seq changed_at"),
  ),
  table(
    "outbox",
    "id",
    columns("text", "id notifier state incident_id event_type severity summary last_error"),
    columns(
      "integer",
      "incident_seq attempts next_attempt_at leased_until created_at counts_from updated_at",
    ),
  ),
  table(
    "alert",
    "incident_id severity",
    columns("text", "incident_id severity"),
    columns("integer", "next_at ended_at leased_until"),
  ),
  table(
    "removed_registration",
    "registration_id",
    columns("uuid", "registration_id"),
    columns("text", "agent_id"),
  ),
]
