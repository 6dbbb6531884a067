import { seconds, type SeedNames } from "./SeedNames.ts"
import type { SeedStep } from "./SeedStep.ts"

/**
 * Agents, with the counts of the checks that are there already, and their keys: alive but for some
 * that are stale, dead or pending; some with a replacement key that is pending; a twentieth as many
 * blocked keys as agents.
 */
export const agentSteps = (names: SeedNames): ReadonlyArray<SeedStep> => [
  { name: "agents", sql: agents(names), reads: "check_state" },
  { name: "agent keys", sql: keys(names) },
  { name: "blocked keys", sql: blockedKeys(names) },
  { name: "registrations of deleted agents", sql: formerRegistrations(names) },
  {
    name: "the service heartbeat",
    sql: `INSERT INTO service_heartbeat (name, beat_at) VALUES ('service', ${names.now})`,
  },
]

const IS_PENDING = "n % 100 = 99"
const IS_STALE = "n % 500 = 11"
const IS_ROTATING = "n % 1000 = 3"

/** How long ago an agent was seen. */
const silence = (names: SeedNames): string =>
  `CASE WHEN ${IS_PENDING} THEN 1 + ${names.mixed("n")} % 86400 WHEN ${names.isDead("n")} THEN 3600
     WHEN ${IS_STALE} THEN 150 ELSE 1 + ${names.mixed("n")} % 50 END`

const fingerprint = (keyHash: string): string => `substr(${keyHash}, 1, 16)`

const agents = (names: SeedNames): string => {
  const seen = `${names.now} - ${seconds(silence(names))}`
  const [accepted, pending] = [names.keyHash("n", "accepted"), names.keyHash("n", "pending")]
  const features = names.dialect.json(`'{"push":true,"metrics":false}'`)
  const labels = names.dialect.json(`'{"env":"production","role":"web-' || (n % 40) || '","os":"debian-12"}'`)
  const counts = ["ok", "warning", "critical", "unknown"]
  const counted = counts.map((status) => `sum(CASE status WHEN '${status}' THEN 1 ELSE 0 END) AS ${status}`)
  return `INSERT INTO agent (agent_id, registration_id, admission_state, hostname, features, labels, observed_at,
      last_seen_at, registered_at, accepted_key_hash, pending_key_hash, key_fingerprint, heartbeat_incident_id,
      ${counts.map((status) => `checks_${status}`).join(", ")})
    SELECT ${names.agentId("n")}, ${names.registrationId("n")},
      CASE WHEN ${IS_PENDING} THEN 'pending' ELSE 'accepted' END,
      'host-' || n || '.example.org', ${features}, ${labels}, ${seen}, ${seen}, ${names.now} - ${seconds(9_000_000)},
      CASE WHEN ${IS_PENDING} THEN NULL ELSE ${accepted} END,
      CASE WHEN ${IS_PENDING} OR ${IS_ROTATING} THEN ${pending} END,
      CASE WHEN ${IS_PENDING} OR ${IS_ROTATING} THEN ${fingerprint(pending)} ELSE ${fingerprint(accepted)} END,
      CASE WHEN ${names.isDead("n")} THEN ${names.timedId("incidentOfAgent", "n", names.openedAt("n"))} END,
      ${counts.map((status) => `coalesce(counted.${status}, 0)`).join(", ")}
    FROM ${names.dialect.series("numbers", 0, names.size.agents)}
    LEFT JOIN (SELECT agent_id, registration_id, ${counted.join(", ")} FROM check_state GROUP BY agent_id, registration_id)
      AS counted ON counted.agent_id = ${names.agentId("n")} AND counted.registration_id = ${names.registrationId("n")}
    ORDER BY n`
}

const keys = (names: SeedNames): string => {
  const arms = [
    { state: "accepted", of: `NOT (${IS_PENDING})` },
    { state: "pending", of: `${IS_PENDING} OR ${IS_ROTATING}` },
    { state: "superseded", of: "n % 50 = 4" },
  ] as const
  const selects = arms.map(
    ({
      state,
      of,
    }) => `SELECT ${names.keyHash("n", state)} AS key_hash, ${fingerprint(names.keyHash("n", state))},
        ${names.agentId("n")}, '${state}', ${names.now} - ${seconds(9_000_000)}, ${names.now} - ${seconds(60)}
      FROM ${names.dialect.series("numbers", 0, names.size.agents)} WHERE ${of}`,
  )
  return `INSERT INTO agent_key (key_hash, key_fingerprint, agent_id, state, created_at, last_seen_at)
    ${selects.join(" UNION ALL ")} ORDER BY key_hash`
}

const blockedKeys = (names: SeedNames): string => {
  const hash = names.keyHash("n", "blocked")
  const blockedAt = `${names.now} - ${seconds(`${names.mixed("n")} % 8640000`)}`
  return `INSERT INTO agent_key (key_hash, key_fingerprint, agent_id, state, created_at, last_seen_at, blacklist_id,
      blocked_at, hostname)
    SELECT ${hash}, ${fingerprint(hash)}, 'blocked-' || n, 'blocked', ${blockedAt} - ${seconds(60)}, ${blockedAt},
      ${names.dialect.hex(names.mixed("n + 1"), 64)}, ${blockedAt}, 'host-' || n || '.example.org'
    FROM ${names.dialect.series("numbers", 0, Math.floor(names.size.agents / 20))}`
}

const formerRegistrations = (names: SeedNames): string =>
  `INSERT INTO removed_registration (registration_id, agent_id)
    SELECT ${names.registrationId("n", "formerRegistration")}, ${names.agentId("n")}
    FROM ${names.dialect.series("numbers", 0, names.size.agents)} WHERE ${names.isFormer("n")}`
