import { AT_LENGTH } from "../properties/atLength.ts"
import { fullSize, partOfFullSize } from "../../bench/seed/SeedSize.ts"

const part = partOfFullSize(50)
const { incidents, outbox } = AT_LENGTH ? fullSize : part

/**
 * A million incidents, or a fiftieth: the plans are the same. Few lists show history, which most
 * rows would be.
 */
export const size = { ...part, history: part.history / 4, incidents, outbox }

/**
 * Makes a fifth of all incidents open and acknowledged, and a third of the notifications held. One check
 * joins every tenth incident that another one opened, and the first of these is busy. A few
 * acknowledgements have run out. Each check must report, and each that is not ok is overdue. All that is due is due at one moment: evaluations, first notifications, alerts.
 */
export const storm: ReadonlyArray<string> = [
  `INSERT INTO expectation (agent_id, check_id, registration_id, origin, expected_from, incident_id, terms)
    SELECT agent_id, check_id, registration_id, 'agent', 1, CASE WHEN status <> 'ok' THEN 'overdue' END, '{}' FROM check_state`,
  `UPDATE incident SET state = 'open', kind = 'named', incident_key = id, resolved_at = NULL, ack_until = 9000000000000000
    WHERE state = 'resolved' AND opened_at / 1000000 % 5 = 0`,
  "UPDATE incident SET ack_until = 1 WHERE id IN (SELECT id FROM incident WHERE ack_until > 1 ORDER BY opened_at LIMIT 5)",
  "UPDATE outbox SET state = 'pending', next_evaluation_at = 1 WHERE state = 'sent' AND created_at / 1000000 % 3 = 0",
  `INSERT INTO incident_member (incident_id, agent_id, check_id, severity, change_seq, joined_at)
    SELECT id, 'agent-0000000', 'check-00003', severity, member_changes + 1, opened_at FROM incident
    WHERE opened_at / 1000000 % 10 = 0 ON CONFLICT DO NOTHING`,
  "UPDATE incident SET next_evaluation_at = 1 WHERE state = 'open'",
  `UPDATE outbox SET state = 'pending', next_attempt_at = 1
    WHERE state = 'sent' AND incident_seq = 1 AND created_at / 1000000 % 3 = 1`,
  "INSERT INTO alert (receiver, incident_id, severity, next_at) SELECT 'alert_router', id, severity, 1 FROM incident WHERE state = 'open'",
  `UPDATE incident SET member_changes = 101 WHERE id = (SELECT min(id) FROM listed_member)`,
]
