import { seconds, type SeedNames } from "./SeedNames.ts"
import type { SeedStep } from "./SeedStep.ts"

/** History is written in pieces: between them lie rows of registrations that are gone. */
const HISTORY_PIECE = 500_000

const CHECKS_OF_FORMER = 5
const HISTORY_OF_FORMER = 10

/**
 * Checks, and their history in the order in which it was stored: result after result of all checks
 * in turn, each another status than the one before, the newest row of each as its check stands.
 */
export const checkSteps = (names: SeedNames): ReadonlyArray<SeedStep> => {
  const { history } = names.size
  const pieces = Array.from({ length: Math.ceil(history / HISTORY_PIECE) }, (_, index) => index)
  return [
    { name: "checks", sql: checks(names) },
    { name: "checks of deleted agents", sql: formerChecks(names) },
    ...pieces.flatMap((index) => [
      {
        name: `history of deleted agents, part ${index + 1} of ${pieces.length}`,
        sql: formerHistory(names, { part: index, parts: pieces.length }),
      },
      {
        name: `history up to row ${Math.min(history, (index + 1) * HISTORY_PIECE)}`,
        sql: historyBetween(names, index * HISTORY_PIECE, Math.min(history, (index + 1) * HISTORY_PIECE)),
      },
    ]),
  ]
}

const sharedKey = (names: SeedNames, k: string): string => `'service-' || ${names.sharedIncident(k)}`

/** The open incident of a check that is not ok. */
export const incidentOfCheck = (names: SeedNames, k: string): string => {
  const ofOthers = names.sharedIncident(k)
  return `CASE WHEN ${names.isShared(k)} THEN ${names.timedId("sharedIncident", ofOthers, names.openedAt(ofOthers))}
    ELSE ${names.timedId("incidentOfCheck", k, names.openedAt(k))} END`
}

const checks = (names: SeedNames): string => {
  const status = names.statusOfCheck("n")
  const newest = `${names.size.history - 1} - n`
  const seen = `${names.now} - ${seconds(`1 + ${names.mixed("n")} % 60`)}`
  return `INSERT INTO check_state (agent_id, registration_id, check_id, status, exit_code, last_observed_at, received_at,
      incident_key, summary, seen_event_ids, incident_id)
    SELECT ${names.agentId(names.agentOfCheck("n"))}, ${names.registrationId(names.agentOfCheck("n"))}, ${names.checkId("n")},
      ${status}, ${names.exitCode(status)}, ${seen}, ${seen},
      CASE WHEN ${names.isShared("n")} THEN ${sharedKey(names, "n")} END,
      'check ' || n || ' took ' || (n % 977) || ' ms; everything it looked at is as it was found',
      ${names.dialect.json(`'["' || ${names.eventId(newest)} || '"]'`)},
      CASE WHEN ${status} <> 'ok' THEN ${incidentOfCheck(names, "n")} END
    FROM ${names.dialect.series("numbers", 0, names.size.checks)} ORDER BY 1, 3`
}

const formerChecks = (names: SeedNames): string => {
  const seen = `${names.now} - ${seconds(9_000_000)}`
  return `INSERT INTO check_state (agent_id, registration_id, check_id, status, exit_code, last_observed_at, received_at,
      seen_event_ids)
    SELECT ${names.agentId("numbers.n")}, ${names.registrationId("numbers.n", "formerRegistration")}, 'check-' || checks.n,
      'ok', 0, ${seen}, ${seen}, ${names.dialect.json("'[]'")}
    FROM ${names.dialect.series("numbers", 0, names.size.agents)}
    CROSS JOIN ${names.dialect.series("checks", 0, CHECKS_OF_FORMER)} WHERE ${names.isFormer("numbers.n")}`
}

const HISTORY_COLUMNS = `agent_id, registration_id, event_id, check_id, observed_at, received_at, status, exit_code,
  duration_ms, output, output_truncated, notifications_enabled, incident_key`

const historyBetween = (names: SeedNames, from: number, to: number): string => {
  const { dialect, size } = names
  // Counted from the newest row: its check, and its age in changes.
  const k = `((${size.history - 1} - n) % ${size.checks})`
  const age = `((${size.history - 1} - n) / ${size.checks})`
  const present = names.statusOfCheck(k)
  const status = `CASE WHEN ${age} % 2 = 0 THEN ${present} WHEN ${present} = 'ok' THEN 'critical' ELSE 'ok' END`
  const daysOfMicros = 90n * 86_400_000_000n
  const at = `${names.now - daysOfMicros} + n * ${daysOfMicros / BigInt(size.history)}`
  const latest = dialect.latest
  return `INSERT INTO check_event (${HISTORY_COLUMNS}${latest === undefined ? "" : `, ${latest.column}`})
    SELECT ${names.agentId(names.agentOfCheck(k))}, ${names.registrationId(names.agentOfCheck(k))}, ${names.eventId("n")},
      ${names.checkId(k)}, ${at}, ${at}, ${status}, ${names.exitCode(`(${status})`)}, 5 + n % 2000,
      'result ' || n || ': the disk of this host is ' || (n % 101) || ' percent full', ${dialect.boolean(false)},
      ${dialect.boolean(true)}, CASE WHEN ${names.isShared(k)} THEN ${sharedKey(names, k)} END
      ${latest === undefined ? "" : `, ${latest.value(`${age} = 0`)}`}
    FROM ${dialect.series("numbers", from, to)} ORDER BY n`
}

const formerHistory = (
  names: SeedNames,
  { part, parts }: { readonly part: number; readonly parts: number },
): string => {
  const { dialect } = names
  const at = `${names.now} - ${seconds(9_000_000)} + results.n`
  const event = `numbers.n * ${HISTORY_OF_FORMER} + results.n`
  const latest = dialect.latest
  return `INSERT INTO check_event (${HISTORY_COLUMNS}${latest === undefined ? "" : `, ${latest.column}`})
    SELECT ${names.agentId("numbers.n")}, ${names.registrationId("numbers.n", "formerRegistration")},
      ${names.eventId(event)}, 'check-' || (results.n % ${CHECKS_OF_FORMER}), ${at}, ${at}, 'ok', results.n, 7, NULL,
      ${dialect.boolean(false)}, ${dialect.boolean(true)}, NULL
      ${latest === undefined ? "" : `, ${latest.value(`results.n >= ${HISTORY_OF_FORMER - CHECKS_OF_FORMER}`)}`}
    FROM ${dialect.series("numbers", 0, names.size.agents)}
    CROSS JOIN ${dialect.series("results", 0, HISTORY_OF_FORMER)}
    WHERE ${names.isFormer("numbers.n")} AND numbers.n / 50 % ${parts} = ${part}`
}
