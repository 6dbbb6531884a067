import { incidentOfCheck } from "./checkSteps.ts"
import { seconds, type SeedNames } from "./SeedNames.ts"
import type { SeedStep } from "./SeedStep.ts"

/**
 * Incidents with their members and scenarios: an open one for each check that is not ok and for each
 * dead agent, but for those that share one; resolved ones over the last year. Then the
 * notifications of them.
 */
export const incidentSteps = (names: SeedNames): ReadonlyArray<SeedStep> => [
  { name: "members of open incidents", sql: openMembers(names) },
  { name: "open incidents", sql: openIncidents },
  { name: "their members", sql: presentMembers },
  { name: "their scenarios", sql: openScenarios },
  { name: "resolved incidents", sql: resolvedIncidents(names) },
  { name: "their members", sql: pastMembers(names) },
  { name: "their scenarios", sql: pastScenarios(names) },
  { name: "notifications of open incidents", sql: openNotifications(names) },
  { name: "notifications of resolved incidents", sql: pastNotifications(names) },
  { name: "end", sql: "DROP TABLE seed_member" },
]

const rankOf = (severity: string): string =>
  `CASE ${severity} WHEN 'critical' THEN 3 WHEN 'unknown' THEN 2 ELSE 1 END`

const SUMMARY = "'load is above what was agreed on for this kind of host'"

/**
 * A table for the statements below: one row for each present member, with the incident that it
 * belongs to.
 */
const openMembers = (names: SeedNames): string => {
  const [agent, check] = [names.agentId(names.agentOfCheck("n")), names.checkId("n")]
  const [ofOthers, ofAgent] = [names.sharedIncident("n"), names.agentId("n")]
  return `CREATE TEMPORARY TABLE seed_member AS
    SELECT joined.*, row_number() OVER (PARTITION BY incident_id ORDER BY n) AS change_seq FROM (
      SELECT n, ${incidentOfCheck(names, "n")} AS incident_id,
        CASE WHEN ${names.isShared("n")} THEN 'named' ELSE 'automatic' END AS kind,
        CASE WHEN ${names.isShared("n")} THEN 'service-' || ${ofOthers} ELSE ${agent} || '/' || ${check} END AS incident_key,
        ${agent} AS agent_id, ${check} AS check_id, ${names.statusOfCheck("n")} AS severity,
        CASE WHEN ${names.isShared("n")} THEN ${names.openedAt(ofOthers)} ELSE ${names.openedAt("n")} END AS opened_at
      FROM ${names.dialect.series("numbers", 0, names.size.checks)} WHERE ${names.statusOfCheck("n")} <> 'ok'
      UNION ALL
      SELECT n, ${names.timedId("incidentOfAgent", "n", names.openedAt("n"))}, 'automatic', ${ofAgent} || '/@heartbeat',
        ${ofAgent}, '@heartbeat', 'critical', ${names.openedAt("n")}
      FROM ${names.dialect.series("numbers", 0, names.size.agents)} WHERE ${names.isDead("n")}
    ) AS joined`
}

const openIncidents = `INSERT INTO incident (id, kind, incident_key, state, severity, agent_id, check_id, opener_agent_id,
    opener_check_id, opened_at, summary, member_changes, members_warning, members_unknown, members_critical)
  SELECT opener.incident_id, opener.kind, opener.incident_key, 'open', worst.severity,
    CASE counted.members WHEN 1 THEN worst.agent_id END, CASE counted.members WHEN 1 THEN worst.check_id END,
    opener.agent_id, opener.check_id, opener.opened_at, ${SUMMARY}, counted.members, counted.warning, counted.unknown,
    counted.critical
  FROM (
    SELECT incident_id, count(*) AS members, sum(CASE severity WHEN 'warning' THEN 1 ELSE 0 END) AS warning,
      sum(CASE severity WHEN 'unknown' THEN 1 ELSE 0 END) AS unknown,
      sum(CASE severity WHEN 'critical' THEN 1 ELSE 0 END) AS critical
    FROM seed_member GROUP BY incident_id
  ) AS counted
  JOIN seed_member AS opener ON opener.incident_id = counted.incident_id AND opener.change_seq = 1
  JOIN (
    SELECT *, row_number() OVER (
      PARTITION BY incident_id ORDER BY ${rankOf("severity")} DESC, change_seq DESC
    ) AS place FROM seed_member
  ) AS worst ON worst.incident_id = counted.incident_id AND worst.place = 1
  ORDER BY opener.incident_id`

const presentMembers = `INSERT INTO incident_member (incident_id, agent_id, check_id, severity, change_seq, summary, joined_at)
  SELECT incident_id, agent_id, check_id, severity, change_seq, ${SUMMARY}, opened_at FROM seed_member ORDER BY 1, 2, 3`

const openScenarios = `INSERT INTO incident_change (incident_id, seq, changed_at, change, agent_id, check_id, severity,
    incident_severity)
  SELECT incident_id, change_seq, opened_at, 'joined', agent_id, check_id, severity, severity FROM seed_member ORDER BY 1, 2`

/** The numbers of resolved incidents, as many as are left of all. */
const resolvedNumbers = ({ dialect, size }: SeedNames): string =>
  `${dialect.series("numbers", 0, size.incidents)}
    WHERE n < ${size.incidents} - (SELECT count(*) FROM incident WHERE state = 'open')`

const pastSeverity = "CASE n % 4 WHEN 0 THEN 'warning' WHEN 1 THEN 'unknown' ELSE 'critical' END"

/** The check of a resolved incident. */
const pastCheck = (names: SeedNames): string => `(${names.mixed("n")} % ${names.size.checks})`

const resolvedId = (names: SeedNames): string =>
  names.timedId("resolvedIncident", "n", names.resolvedIncidentOpenedAt("n"))

const resolvedAt = (names: SeedNames): string =>
  `${names.resolvedIncidentOpenedAt("n")} + ${seconds(`60 + ${names.mixed("n")} % 7200`)}`

const resolvedIncidents = (names: SeedNames): string => {
  const [agent, check] = [
    names.agentId(names.agentOfCheck(pastCheck(names))),
    names.checkId(pastCheck(names)),
  ]
  return `INSERT INTO incident (id, kind, incident_key, state, severity, agent_id, check_id, opener_agent_id,
      opener_check_id, opened_at, resolved_at, summary, member_changes, members_warning, members_unknown, members_critical)
    SELECT ${resolvedId(names)}, 'automatic', ${agent} || '/' || ${check}, 'resolved', ${pastSeverity}, ${agent}, ${check},
      ${agent}, ${check}, ${names.resolvedIncidentOpenedAt("n")}, ${resolvedAt(names)}, ${SUMMARY}, 2, 0, 0, 0
    FROM ${resolvedNumbers(names)}`
}

const pastMembers = (names: SeedNames): string => {
  const k = pastCheck(names)
  return `INSERT INTO incident_member (incident_id, agent_id, check_id, severity, change_seq, summary, joined_at, left_at)
    SELECT ${resolvedId(names)}, ${names.agentId(names.agentOfCheck(k))}, ${names.checkId(k)}, ${pastSeverity}, 1, ${SUMMARY},
      ${names.resolvedIncidentOpenedAt("n")}, ${resolvedAt(names)}
    FROM ${resolvedNumbers(names)}`
}

const pastScenarios = (names: SeedNames): string => {
  const k = pastCheck(names)
  const arm = (seq: 1 | 2) => `SELECT ${resolvedId(names)}, ${seq},
      ${seq === 1 ? names.resolvedIncidentOpenedAt("n") : resolvedAt(names)}, '${seq === 1 ? "joined" : "left"}',
      ${names.agentId(names.agentOfCheck(k))}, ${names.checkId(k)}, ${pastSeverity},
      ${seq === 1 ? pastSeverity : "NULL"}
    FROM ${resolvedNumbers(names)}`
  return `INSERT INTO incident_change (incident_id, seq, changed_at, change, agent_id, check_id, severity, incident_severity)
    ${arm(1)} UNION ALL ${arm(2)}`
}

const OUTBOX_COLUMNS = `id, receiver, notifier, state, incident_id, event_type, incident_seq, severity, summary, attempts,
  first_attempted_at, next_attempt_at, leased_until, created_at, age_starts_at, updated_at`

const notifier = (n: string): string =>
  `CASE WHEN ${n} % 10 < 6 THEN 'debug' WHEN ${n} % 10 < 8 THEN 'webhook' WHEN ${n} % 10 = 8 THEN 'messenger'
    ELSE 'alert_router' END`

/** A firing of each open incident, some of them still on their way. */
const openNotifications = (names: SeedNames): string => {
  const state = `CASE WHEN n % 97 < 90 THEN 'sent' WHEN n % 97 < 92 THEN 'failed' WHEN n % 97 < 94 THEN 'retry'
    WHEN n % 97 < 96 THEN 'pending' ELSE 'sending' END`
  return `INSERT INTO outbox (${OUTBOX_COLUMNS})
    SELECT ${names.timedId("firing", `${names.size.incidents} + place`, "opened_at")}, ${notifier("place")}, ${notifier("place")}, ${state}, incident_id,
      'firing', 1, severity, ${SUMMARY}, CASE ${state} WHEN 'pending' THEN 0 ELSE 1 END,
      CASE WHEN ${state} <> 'pending' THEN opened_at END,
      CASE WHEN ${state} IN ('pending', 'retry') THEN ${names.now} + ${seconds("60 + place % 600")} END,
      CASE ${state} WHEN 'sending' THEN ${names.now} + ${seconds(60)} END, opened_at, opened_at, opened_at + place % 5000000
    FROM (SELECT *, row_number() OVER (ORDER BY incident_id) AS place FROM seed_member WHERE change_seq = 1) AS opener
    WHERE place <= ${names.size.outbox}`
}

/** A firing and a resolved one for the latest resolved incidents. */
const pastNotifications = (names: SeedNames): string => {
  const state = "CASE WHEN n % 89 < 85 THEN 'sent' WHEN n % 89 < 87 THEN 'failed' ELSE 'discarded' END"
  const opened = names.resolvedIncidentOpenedAt("n")
  const arm = (kind: "firing" | "resolution") => {
    const at = kind === "firing" ? opened : resolvedAt(names)
    return `SELECT ${names.timedId(kind, "n", at)}, ${notifier("n")}, ${notifier("n")}, ${state}, ${resolvedId(names)},
        '${kind === "firing" ? "firing" : "resolved"}', ${kind === "firing" ? 1 : 2}, ${pastSeverity}, ${SUMMARY}, 1, ${at}, CAST(NULL AS bigint), CAST(NULL AS bigint),
        ${at}, ${at}, ${at} + ${names.mixed("n")} % 5000000
      FROM ${resolvedNumbers(names)} AND n >= ${names.size.incidents - Math.floor(names.size.outbox / 2)}
        - (SELECT count(*) FROM incident WHERE state = 'open') / 2`
  }
  return `INSERT INTO outbox (${OUTBOX_COLUMNS})
    ${arm("firing")} UNION ALL ${arm("resolution")}`
}
