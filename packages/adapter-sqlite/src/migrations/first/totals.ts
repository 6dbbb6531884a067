/**
 * Running totals, so that the summary and a registration need not count agents. Triggers keep them for
 * every writer, and do nothing for heartbeats and results that change no status.
 */
export const TOTALS = `
CREATE TABLE system_total (
  writer INTEGER PRIMARY KEY,
  agents_accepted INTEGER NOT NULL,
  agents_dead INTEGER NOT NULL,
  acceptances INTEGER NOT NULL,
  checks_ok INTEGER NOT NULL,
  checks_warning INTEGER NOT NULL,
  checks_critical INTEGER NOT NULL,
  checks_unknown INTEGER NOT NULL,
  incidents_open INTEGER NOT NULL,
  agents_pending INTEGER NOT NULL
) STRICT;

INSERT INTO system_total VALUES (0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

CREATE TRIGGER agent_comes AFTER INSERT ON agent BEGIN
  UPDATE system_total SET acceptances = acceptances + (NEW.admission_state = 'accepted'),
    agents_accepted = agents_accepted + (NEW.admission_state = 'accepted'),
    agents_pending = agents_pending + (NEW.admission_state = 'pending'),
    agents_dead = agents_dead + (NEW.admission_state = 'accepted' AND NEW.heartbeat_incident_id IS NOT NULL),
    checks_ok = checks_ok + NEW.checks_ok,
    checks_warning = checks_warning + NEW.checks_warning,
    checks_critical = checks_critical + NEW.checks_critical,
    checks_unknown = checks_unknown + NEW.checks_unknown;
END;

CREATE TRIGGER agent_goes AFTER DELETE ON agent BEGIN
  UPDATE system_total SET
    agents_accepted = agents_accepted - (OLD.admission_state = 'accepted'),
    agents_pending = agents_pending - (OLD.admission_state = 'pending'),
    agents_dead = agents_dead - (OLD.admission_state = 'accepted' AND OLD.heartbeat_incident_id IS NOT NULL),
    checks_ok = checks_ok - OLD.checks_ok,
    checks_warning = checks_warning - OLD.checks_warning,
    checks_critical = checks_critical - OLD.checks_critical,
    checks_unknown = checks_unknown - OLD.checks_unknown;
END;

CREATE TRIGGER agent_counts_otherwise
AFTER UPDATE OF checks_ok, checks_warning, checks_critical, checks_unknown, admission_state, heartbeat_incident_id ON agent
WHEN OLD.checks_ok IS NOT NEW.checks_ok OR OLD.checks_warning IS NOT NEW.checks_warning
  OR OLD.checks_critical IS NOT NEW.checks_critical OR OLD.checks_unknown IS NOT NEW.checks_unknown
  OR OLD.admission_state IS NOT NEW.admission_state OR OLD.heartbeat_incident_id IS NOT NEW.heartbeat_incident_id
BEGIN
  UPDATE system_total SET
    acceptances = acceptances + ((NEW.admission_state = 'accepted') > (OLD.admission_state = 'accepted')),
    agents_accepted = agents_accepted + (NEW.admission_state = 'accepted') - (OLD.admission_state = 'accepted'),
    agents_pending = agents_pending + (NEW.admission_state = 'pending') - (OLD.admission_state = 'pending'),
    agents_dead = agents_dead + (NEW.admission_state = 'accepted' AND NEW.heartbeat_incident_id IS NOT NULL)
      - (OLD.admission_state = 'accepted' AND OLD.heartbeat_incident_id IS NOT NULL),
    checks_ok = checks_ok + NEW.checks_ok - OLD.checks_ok,
    checks_warning = checks_warning + NEW.checks_warning - OLD.checks_warning,
    checks_critical = checks_critical + NEW.checks_critical - OLD.checks_critical,
    checks_unknown = checks_unknown + NEW.checks_unknown - OLD.checks_unknown;
END;
`
