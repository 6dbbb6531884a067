import { Effect } from "effect"
import { scriptOf } from "../../src/client/PgPoolOptions.ts"
import type { SqlClient } from "effect/sql"

/** Rows of the largest tables. */
export const ROWS = 20_000

/** Agents; each has as many checks, history rows and memberships as there are rows for each. */
export const AGENTS = 1_000

/**
 * Fills all lists. Nearly all incidents are resolved and critical, nearly all outbox items are sent debug firings, and
 * PostgreSQL's statistics know no others: a few of every kind came after they were made. Rows of one check are far from
 * those of another. Times and ids go their own ways, and every tenth agent is deleted but not purged.
 */
export const populateStatistics = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const fill = scriptOf(`
    INSERT INTO agent (agent_id, registration_id, admission_state, hostname, features, observed_at, last_seen_at,
                       registered_at, accepted_key_hash, key_fingerprint,
                       checks_ok, checks_warning, checks_critical, checks_unknown)
    SELECT 'agent-' || n, md5('registration ' || n)::uuid, 'accepted', 'host', '{"push":true,"metrics":false}', n, n,
           n, md5(n::text), 'fingerprint', 20, 0, 0, 0
    FROM generate_series(1, ${AGENTS}) AS n WHERE n % 10 <> 0;

    INSERT INTO agent_key (key_hash, key_fingerprint, agent_id, state, created_at, last_seen_at,
                           blacklist_id, blocked_at, hostname)
    SELECT md5(n::text), 'fingerprint', 'agent-' || n, CASE WHEN n % 2 = 0 THEN 'blocked' ELSE 'accepted' END, n, n,
           CASE WHEN n % 2 = 0 THEN md5('blacklist ' || n) END, CASE WHEN n % 2 = 0 THEN n * 7919 % 10007 END,
           CASE WHEN n % 2 = 0 THEN 'host' END
    FROM generate_series(1, ${ROWS}) AS n;

    INSERT INTO check_state (agent_id, registration_id, check_id, status, exit_code, last_observed_at, received_at,
                             seen_event_ids)
    SELECT 'agent-' || a, md5('registration ' || a)::uuid, 'check-' || n / ${AGENTS}, 'ok', 0, n, n, '[]'
    FROM generate_series(0, ${ROWS - 1}) AS n, LATERAL (SELECT 1 + n % ${AGENTS} AS a) AS of;

    INSERT INTO check_event (agent_id, registration_id, event_id, check_id, observed_at, received_at, status, exit_code,
                             duration_ms, output_truncated, notifications_enabled)
    SELECT 'agent-' || a, md5('registration ' || a)::uuid, md5('event ' || n)::uuid, 'check-' || n / ${AGENTS}, n, n,
           'ok', 0, 1, false, true
    FROM generate_series(0, ${ROWS - 1}) AS n, LATERAL (SELECT 1 + n % ${AGENTS} AS a) AS of;

    INSERT INTO incident (id, kind, incident_key, state, severity, opener_agent_id, opener_check_id, opened_at, resolved_at,
                          member_changes, members_warning, members_unknown, members_critical)
    SELECT md5('incident ' || n), 'named', 'key ' || n, 'resolved', 'critical',
           'agent-1', 'check-1', n * 7919 % 10007, n * 104729 % 10009, 1, 0, 0, 0
    FROM generate_series(1, ${ROWS}) AS n;

    INSERT INTO incident_member (incident_id, agent_id, check_id, severity, change_seq, joined_at, left_at)
    SELECT md5('incident ' || n), 'agent-' || 1 + n % ${AGENTS}, 'check-' || n / ${AGENTS}, 'critical', 1, n, n
    FROM generate_series(1, ${ROWS}) AS n;

    INSERT INTO outbox (id, receiver, notifier, state, incident_id, event_type, incident_seq, severity, attempts, created_at,
                        age_starts_at, updated_at)
    SELECT md5('item ' || n), 'debug', 'debug', 'sent', md5('incident ' || n), 'firing', 1, 'critical', 1,
           n * 7919 % 10007, n, n * 104729 % 10009
    FROM generate_series(1, ${ROWS}) AS n`)
  const fillAudit = scriptOf(`
    INSERT INTO audit (id, recorded_at, actor, via, action, subjects)
    SELECT md5('audit ' || n), n * 7919 % 10007, 'cli:root', 'cli', 'agent.deleted', '[]'
    FROM generate_series(1, ${ROWS}) AS n;

    INSERT INTO audit_subject (subject_id, audit_id, recorded_at, actor, action)
    SELECT 'web', id, recorded_at, actor, action FROM audit`)
  const makeRare = scriptOf(`
    UPDATE incident SET state = 'open', resolved_at = NULL WHERE id IN (SELECT id FROM incident LIMIT 3);
    UPDATE incident SET severity = 'unknown' WHERE id IN (SELECT id FROM incident ORDER BY opened_at LIMIT 3);
    UPDATE outbox SET state = 'failed' WHERE id IN (SELECT id FROM outbox LIMIT 3);
    UPDATE outbox SET notifier = 'webhook' WHERE id IN (SELECT id FROM outbox ORDER BY created_at LIMIT 3);
    UPDATE outbox SET event_type = 'resolved' WHERE id IN (SELECT id FROM outbox ORDER BY updated_at LIMIT 3);
    UPDATE audit SET actor = 'ann' WHERE id IN (SELECT id FROM audit LIMIT 3);
    UPDATE audit SET action = 'agent.accepted' WHERE id IN (SELECT id FROM audit ORDER BY recorded_at LIMIT 3);
    UPDATE audit_subject AS s SET actor = u.actor, action = u.action FROM audit AS u
    WHERE u.id = s.audit_id AND (u.actor = 'ann' OR u.action = 'agent.accepted');
    UPDATE check_event SET check_id = 'rare' WHERE seq IN (SELECT seq FROM check_event ORDER BY seq LIMIT 3)`)
  for (const text of [fill, fillAudit, "ANALYZE", makeRare]) yield* sql.unsafe(text)
})
