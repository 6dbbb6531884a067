/**
 * Every filter and order of incidents has an index that begins with the filter, so that a page reads its
 * own rows only.
 *
 * `listed_incident` has a row for each incident, and others for its members: by agent, by check, and
 * by both; the empty text stands for all. Phases: 0 resolved, 1 open, 2 acknowledged. A change moves
 * few rows: those of an incident with more than 100 changes get phase 3 instead, and stay there.
 */
export const LISTS = `
CREATE TABLE listed_incident (
  id TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  phase INTEGER NOT NULL,
  severity_rank INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_order INTEGER NOT NULL,
  state_rank INTEGER NOT NULL AS (phase <> 0) VIRTUAL,
  PRIMARY KEY (id, agent_id, check_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX listed_incident_by_opened_at ON listed_incident (agent_id, check_id, phase, severity_rank, opened_at, id);
CREATE INDEX listed_incident_by_resolved_at ON listed_incident (agent_id, check_id, phase, severity_rank, resolved_order, id);

CREATE TRIGGER incident_is_listed AFTER INSERT ON incident BEGIN
  INSERT INTO listed_incident (id, agent_id, check_id, phase, severity_rank, opened_at, resolved_order)
  VALUES (NEW.id, '', '', CASE WHEN NEW.state = 'resolved' THEN 0 WHEN NEW.ack_until IS NULL THEN 1 ELSE 2 END, NEW.severity_rank, NEW.opened_at, NEW.resolved_order);
END;

CREATE TRIGGER incident_moves AFTER UPDATE OF opened_at, resolved_at, state, severity, ack_until ON incident WHEN CASE WHEN OLD.state = 'resolved' THEN 0 WHEN OLD.ack_until IS NULL THEN 1 ELSE 2 END <> CASE WHEN NEW.state = 'resolved' THEN 0 WHEN NEW.ack_until IS NULL THEN 1 ELSE 2 END OR (OLD.severity_rank, OLD.opened_at, OLD.resolved_order)
  <> (NEW.severity_rank, NEW.opened_at, NEW.resolved_order) BEGIN
  UPDATE listed_incident
  SET phase = CASE WHEN NEW.state = 'resolved' THEN 0 WHEN NEW.ack_until IS NULL THEN 1 ELSE 2 END, severity_rank = NEW.severity_rank,
    opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
  WHERE id = NEW.id AND agent_id = '' AND check_id = '';
END;

CREATE TRIGGER members_move AFTER UPDATE OF opened_at, resolved_at, state, severity, ack_until, member_changes ON incident
WHEN NOT (OLD.member_changes > 100) AND (CASE WHEN OLD.state = 'resolved' THEN 0 WHEN OLD.ack_until IS NULL THEN 1 ELSE 2 END <> CASE WHEN NEW.state = 'resolved' THEN 0 WHEN NEW.ack_until IS NULL THEN 1 ELSE 2 END OR (OLD.severity_rank, OLD.opened_at, OLD.resolved_order)
  <> (NEW.severity_rank, NEW.opened_at, NEW.resolved_order) OR (NEW.member_changes > 100))
BEGIN
  UPDATE listed_incident
  SET phase = CASE WHEN (NEW.member_changes > 100) THEN 3 ELSE CASE WHEN NEW.state = 'resolved' THEN 0 WHEN NEW.ack_until IS NULL THEN 1 ELSE 2 END END,
    severity_rank = CASE WHEN (NEW.member_changes > 100) THEN 0 ELSE NEW.severity_rank END,
    opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
  WHERE id = NEW.id AND agent_id || check_id <> '';
END;

CREATE TRIGGER member_is_listed AFTER INSERT ON incident_member BEGIN
  INSERT INTO listed_incident (id, agent_id, check_id, phase, severity_rank, opened_at, resolved_order)
    SELECT i.id, NEW.agent_id, NEW.check_id, CASE WHEN (i.member_changes > 100) THEN 3 ELSE CASE WHEN i.state = 'resolved' THEN 0 WHEN i.ack_until IS NULL THEN 1 ELSE 2 END END,
      CASE WHEN (i.member_changes > 100) THEN 0 ELSE i.severity_rank END, i.opened_at, i.resolved_order
    FROM incident AS i WHERE i.id = NEW.incident_id
    ON CONFLICT DO NOTHING;
  INSERT INTO listed_incident (id, agent_id, check_id, phase, severity_rank, opened_at, resolved_order)
    SELECT i.id, NEW.agent_id, '', CASE WHEN (i.member_changes > 100) THEN 3 ELSE CASE WHEN i.state = 'resolved' THEN 0 WHEN i.ack_until IS NULL THEN 1 ELSE 2 END END,
      CASE WHEN (i.member_changes > 100) THEN 0 ELSE i.severity_rank END, i.opened_at, i.resolved_order
    FROM incident AS i WHERE i.id = NEW.incident_id
    ON CONFLICT DO NOTHING;
  INSERT INTO listed_incident (id, agent_id, check_id, phase, severity_rank, opened_at, resolved_order)
    SELECT i.id, '', NEW.check_id, CASE WHEN (i.member_changes > 100) THEN 3 ELSE CASE WHEN i.state = 'resolved' THEN 0 WHEN i.ack_until IS NULL THEN 1 ELSE 2 END END,
      CASE WHEN (i.member_changes > 100) THEN 0 ELSE i.severity_rank END, i.opened_at, i.resolved_order
    FROM incident AS i WHERE i.id = NEW.incident_id
    ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER member_leaves AFTER DELETE ON incident_member BEGIN
  DELETE FROM listed_incident WHERE id = OLD.incident_id AND agent_id = OLD.agent_id AND check_id = OLD.check_id;
  DELETE FROM listed_incident WHERE id = OLD.incident_id AND agent_id = OLD.agent_id AND check_id = '';
  DELETE FROM listed_incident WHERE id = OLD.incident_id AND agent_id = '' AND check_id = OLD.check_id;
END;
`
