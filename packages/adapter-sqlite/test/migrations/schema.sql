-- The schema that the migrations result in. Compared by a test: a released migration is never changed, a new
-- one adds its line and its objects here.
-- 1 first breaking sha256:98c518243052ca5857da70f3d9a4d24c37908b83fbf08c8da69342245abf62c2
-- 2 acceptances_leave breaking sha256:09463a6402aecc5aa520d63ab4e3b4acb32c8275e595910423411ba8ae8e9477
-- 3 separate_tables breaking sha256:c94ee1fe19bfc3affc9a28052d10e7e4dc660678d23aa1194f689a7d92f905c1
-- 4 mail_recipients compatible sha256:b337603126102206eddf6fb671fc255fb1e64faa04288a9ec40ca80f99e8aea4
-- 5 watch_headers compatible sha256:dc17cbcf1b843fc95409e11f4f19321baff204d52d213fde4354f716489339a3
-- 6 agent_processes compatible sha256:5e6cb16dd188ad3b320daac4a75963ca9d14db3ed421a49101b9da16d71a5b76
-- 7 episodes compatible sha256:b66bc3e1d87c2d61e56e5aef75f2c1f187de985fee05589515686f1c0dfbb144
-- 8 resolved_incidents compatible sha256:148bf85872efe2d44d47ea3e6221896d24a6573d2024aee9b08ddfe92d5a5924
-- 9 late_checks compatible sha256:4d9f37439dd90a7b6f904be3119aba826300eacbbf73ea96ae1e86b152ec5444
-- 10 browsers compatible sha256:99c19896c092b2971f646bda24b22618bbf930864566059e86b45b507a49e77f
-- 11 mails compatible sha256:4079d4a11a9f26d59b5eba46ab66c82f4bf7add5191163e33c969b5a5723688b
-- 12 resolutions compatible sha256:59889a1e35941b76fa3911b32939484a6773183cd5ba84d66a9de23a00947664
-- 13 known_names compatible sha256:50718d4f1f567985471ec85719bb6fa9af88ba9a2620dbe8b8cdb252d03aad6c
-- 14 withdrawn_checks compatible sha256:11df87ce3c05773cc46627906cee6b01928b271bce82e1577ec723748f9e451e
-- 15 titles compatible sha256:1e5de03ebf341cd0ab303d36a684ac3b698824843c262b0b2207f9f2c4c569ae
-- 16 settings compatible sha256:154c80c4b2e05ca063e60e9eed403fcaf7c230794dba51a62b820ad97d9ed62c
-- 17 places compatible sha256:232c0d91f71233a93467b6d5f11ac8dfb8e5ffecd47223b977ac27b4eaeba609
-- 18 invitations compatible sha256:9f04adddb222455fd104f5e59be42ae533cf277b126be19849e44ce5a60aac37
-- 19 more_titles compatible sha256:077fa6b8de225caf59f3ffd2df95974206402661cfb98f1b2602621a59e02c5e
-- 20 monthly_reports compatible sha256:1b4461c9dc6f025be0adf7f5e9cf99696a6e53db6e56541e7ed11aca367754c6
-- 21 flood_minutes compatible sha256:eec0b974030d7f680f09d936dd237d57b4be419b666f739d4bd8d2703ebdbe09
-- 22 sending_leaves breaking sha256:55ca9e4edac21c90aa603d1759836ecc2667ad5781c91d2d56527e38e77fb28a

CREATE TABLE agent (
  agent_id TEXT PRIMARY KEY,
  registration_id TEXT NOT NULL,
  admission_state TEXT NOT NULL CHECK (admission_state IN ('pending', 'accepted')),
  observed_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  registered_at INTEGER NOT NULL,
  checks_ok INTEGER NOT NULL,
  checks_warning INTEGER NOT NULL,
  checks_critical INTEGER NOT NULL,
  checks_unknown INTEGER NOT NULL,
  key_fingerprint TEXT NOT NULL,
  accepted_key_hash TEXT,
  pending_key_hash TEXT,
  heartbeat_incident_id TEXT,
  hostname TEXT NOT NULL,
  features TEXT NOT NULL,
  labels TEXT,
  reachable_from INTEGER
, process TEXT, former_processes TEXT, twice_at INTEGER, listed_as_of INTEGER, title TEXT, given_title TEXT, declared_title TEXT) STRICT, WITHOUT ROWID;

CREATE INDEX agent_by_hostname ON agent (hostname);

CREATE TRIGGER agent_changes_labels AFTER UPDATE OF labels ON agent WHEN OLD.labels IS NOT NEW.labels
BEGIN DELETE FROM label WHERE (name, value, agent_id, check_id, registration_id) IN (SELECT key, value, OLD.agent_id, '', '' FROM json_each(iif(json_valid(OLD.labels), OLD.labels, '{}')) WHERE typeof(key) = 'text' AND type = 'text'); INSERT INTO label SELECT key, value, NEW.agent_id, '', '' FROM json_each(iif(json_valid(NEW.labels), NEW.labels, '{}')) WHERE typeof(key) = 'text' AND type = 'text'; END;

CREATE TRIGGER agent_comes AFTER INSERT ON agent BEGIN
  UPDATE system_total SET agents_accepted = agents_accepted + (NEW.admission_state = 'accepted'), agents_pending = agents_pending + (NEW.admission_state = 'pending'), agents_dead = agents_dead + (NEW.admission_state = 'accepted' AND NEW.heartbeat_incident_id IS NOT NULL), checks_ok = checks_ok + NEW.checks_ok, checks_warning = checks_warning + NEW.checks_warning, checks_critical = checks_critical + NEW.checks_critical, checks_unknown = checks_unknown + NEW.checks_unknown;
END;

CREATE TRIGGER agent_comes_with_labels AFTER INSERT ON agent WHEN NEW.labels IS NOT NULL BEGIN INSERT INTO label SELECT key, value, NEW.agent_id, '', '' FROM json_each(iif(json_valid(NEW.labels), NEW.labels, '{}')) WHERE typeof(key) = 'text' AND type = 'text'; END;

CREATE TRIGGER agent_counts_otherwise
AFTER UPDATE OF checks_ok, checks_warning, checks_critical, checks_unknown, admission_state, heartbeat_incident_id ON agent
WHEN OLD.checks_ok IS NOT NEW.checks_ok OR OLD.checks_warning IS NOT NEW.checks_warning
  OR OLD.checks_critical IS NOT NEW.checks_critical OR OLD.checks_unknown IS NOT NEW.checks_unknown
  OR OLD.admission_state IS NOT NEW.admission_state OR OLD.heartbeat_incident_id IS NOT NEW.heartbeat_incident_id
BEGIN
  UPDATE system_total SET
    agents_accepted = agents_accepted + (NEW.admission_state = 'accepted') - (OLD.admission_state = 'accepted'), agents_pending = agents_pending + (NEW.admission_state = 'pending') - (OLD.admission_state = 'pending'), agents_dead = agents_dead + (NEW.admission_state = 'accepted' AND NEW.heartbeat_incident_id IS NOT NULL) - (OLD.admission_state = 'accepted' AND OLD.heartbeat_incident_id IS NOT NULL), checks_ok = checks_ok + NEW.checks_ok - OLD.checks_ok, checks_warning = checks_warning + NEW.checks_warning - OLD.checks_warning, checks_critical = checks_critical + NEW.checks_critical - OLD.checks_critical, checks_unknown = checks_unknown + NEW.checks_unknown - OLD.checks_unknown;
END;

CREATE TRIGGER agent_goes AFTER DELETE ON agent BEGIN
  UPDATE system_total SET agents_accepted = agents_accepted - (OLD.admission_state = 'accepted'), agents_pending = agents_pending - (OLD.admission_state = 'pending'), agents_dead = agents_dead - (OLD.admission_state = 'accepted' AND OLD.heartbeat_incident_id IS NOT NULL), checks_ok = checks_ok - OLD.checks_ok, checks_warning = checks_warning - OLD.checks_warning, checks_critical = checks_critical - OLD.checks_critical, checks_unknown = checks_unknown - OLD.checks_unknown;
END;

CREATE TRIGGER agent_goes_with_labels AFTER DELETE ON agent WHEN OLD.labels IS NOT NULL BEGIN DELETE FROM label WHERE (name, value, agent_id, check_id, registration_id) IN (SELECT key, value, OLD.agent_id, '', '' FROM json_each(iif(json_valid(OLD.labels), OLD.labels, '{}')) WHERE typeof(key) = 'text' AND type = 'text'); END;

CREATE TABLE agent_key (
  key_hash TEXT PRIMARY KEY,
  key_fingerprint TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'accepted', 'superseded', 'blocked')),
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  blacklist_id TEXT,
  blocked_at INTEGER,
  hostname TEXT,
  CHECK ((state = 'blocked') = (blacklist_id IS NOT NULL AND blocked_at IS NOT NULL AND hostname IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX agent_key_blacklist_id ON agent_key (blacklist_id) WHERE state = 'blocked';

CREATE INDEX agent_key_blocked ON agent_key (blocked_at, blacklist_id) WHERE state = 'blocked';

CREATE INDEX agent_key_of_agent ON agent_key (agent_id) WHERE blacklist_id IS NULL;

CREATE INDEX agent_pending ON agent (agent_id) WHERE admission_state = 'pending';

CREATE INDEX agent_with_pending_key ON agent (agent_id) WHERE pending_key_hash IS NOT NULL;

CREATE TABLE alert (
  incident_id TEXT NOT NULL,
  receiver TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  next_at INTEGER NOT NULL,
  ended_at INTEGER,
  leased_until INTEGER,
  PRIMARY KEY (incident_id, receiver, severity)
) STRICT, WITHOUT ROWID;

CREATE INDEX alert_due ON alert (receiver, next_at, incident_id, severity);

CREATE INDEX alert_leased ON alert (receiver, leased_until) WHERE leased_until IS NOT NULL;

CREATE TABLE announcement (
  id TEXT PRIMARY KEY,
  page TEXT NOT NULL,
  kind TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER,
  ends_order INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(ends_at, 9223372036854775807)) STORED,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  title TEXT NOT NULL,
  lines TEXT NOT NULL,
  text TEXT NOT NULL,
  updates TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX announcement_by_created_at ON announcement (created_at, id);

CREATE INDEX announcement_by_end ON announcement (ends_at);

CREATE INDEX announcement_by_end_order ON announcement (ends_order, id);

CREATE INDEX announcement_of_page_by_created_at ON announcement (page, created_at, id);

CREATE INDEX announcement_of_page_by_end ON announcement (page, ends_order, id);

CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  recorded_at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  via TEXT NOT NULL,
  action TEXT NOT NULL,
  subjects TEXT NOT NULL,
  parameters TEXT,
  request_id TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_by_action ON audit (action, recorded_at, id);

CREATE INDEX audit_by_actor ON audit (actor, recorded_at, id);

CREATE INDEX audit_by_actor_and_action ON audit (actor, action, recorded_at, id);

CREATE INDEX audit_by_time ON audit (recorded_at, id);

CREATE TABLE audit_subject (
  subject_id TEXT NOT NULL,
  audit_id TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  PRIMARY KEY (audit_id, subject_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_subject_by_action ON audit_subject (subject_id, action, recorded_at, audit_id);

CREATE INDEX audit_subject_by_actor ON audit_subject (subject_id, actor, recorded_at, audit_id);

CREATE INDEX audit_subject_by_actor_and_action ON audit_subject (subject_id, actor, action, recorded_at, audit_id);

CREATE INDEX audit_subject_by_time ON audit_subject (subject_id, recorded_at, audit_id);

CREATE TABLE change_stamp (
  name TEXT PRIMARY KEY,
  stamp TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE check_event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  observed_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'warning', 'critical', 'unknown')),
  exit_code INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  output_truncated INTEGER NOT NULL,
  notifications_enabled INTEGER NOT NULL,
  is_kept INTEGER NOT NULL DEFAULT false,
  incident_key TEXT,
  output TEXT,
  UNIQUE (agent_id, event_id, registration_id)
) STRICT;

CREATE INDEX check_event_by_age ON check_event (received_at) WHERE is_kept = 0;

CREATE INDEX check_event_by_check_id ON check_event (check_id);

CREATE INDEX check_event_kept ON check_event (registration_id, check_id) WHERE is_kept = 1;

CREATE INDEX check_event_of_agent ON check_event (registration_id);

CREATE INDEX check_event_of_check ON check_event (registration_id, check_id);

CREATE TABLE check_label (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  labels TEXT NOT NULL,
  labelled_at INTEGER NOT NULL, title TEXT, declared_title TEXT, given_title TEXT,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER check_label_changes_labels AFTER UPDATE OF labels ON check_label WHEN OLD.labels IS NOT NEW.labels
BEGIN DELETE FROM label WHERE (name, value, agent_id, check_id, registration_id) IN (SELECT key, value, OLD.agent_id, OLD.check_id, OLD.registration_id FROM json_each(iif(json_valid(OLD.labels), OLD.labels, '{}')) WHERE typeof(key) = 'text' AND type = 'text'); INSERT INTO label SELECT key, value, NEW.agent_id, NEW.check_id, NEW.registration_id FROM json_each(iif(json_valid(NEW.labels), NEW.labels, '{}')) WHERE typeof(key) = 'text' AND type = 'text'; END;

CREATE TRIGGER check_label_comes_with_labels AFTER INSERT ON check_label WHEN NEW.labels IS NOT NULL BEGIN INSERT INTO label SELECT key, value, NEW.agent_id, NEW.check_id, NEW.registration_id FROM json_each(iif(json_valid(NEW.labels), NEW.labels, '{}')) WHERE typeof(key) = 'text' AND type = 'text'; END;

CREATE TRIGGER check_label_goes_with_labels AFTER DELETE ON check_label WHEN OLD.labels IS NOT NULL BEGIN DELETE FROM label WHERE (name, value, agent_id, check_id, registration_id) IN (SELECT key, value, OLD.agent_id, OLD.check_id, OLD.registration_id FROM json_each(iif(json_valid(OLD.labels), OLD.labels, '{}')) WHERE typeof(key) = 'text' AND type = 'text'); END;

CREATE TABLE "check_state" (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'ok' OR status = 'warning' OR status = 'critical' OR status = 'unknown'),
  exit_code INTEGER NOT NULL,
  last_observed_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  incident_id TEXT,
  incident_key TEXT,
  seen_event_ids TEXT NOT NULL,
  summary TEXT,
  overdue_incident_id TEXT,
  declaration TEXT, withdrawn_at INTEGER, is_of_place INTEGER,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX check_state_not_ok ON check_state (agent_id, check_id) WHERE status <> 'ok';

CREATE INDEX check_state_of_place ON check_state (agent_id, check_id) WHERE is_of_place IS NOT NULL;

CREATE INDEX check_state_withdrawn ON check_state (agent_id, check_id) WHERE withdrawn_at IS NOT NULL;

CREATE TABLE enrolment (
  id TEXT PRIMARY KEY,
  agent_id TEXT,
  uses INTEGER NOT NULL,
  used INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX enrolment_by_created ON enrolment (created_at, id);

CREATE INDEX enrolment_by_end ON enrolment (expires_at);

CREATE TABLE established (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE expectation (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  expected_from INTEGER NOT NULL,
  next_evaluation_at INTEGER,
  incident_id TEXT,
  running_since INTEGER,
  alone_due_at INTEGER,
  terms TEXT NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX expectation_by_next_evaluation ON expectation (next_evaluation_at, agent_id, check_id, registration_id) WHERE next_evaluation_at IS NOT NULL;

CREATE INDEX expectation_overdue ON expectation (agent_id, check_id) WHERE incident_id IS NOT NULL;

CREATE TABLE flood_minute (
  receiver TEXT NOT NULL,
  event_type TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  singly TEXT NOT NULL,
  worst TEXT NOT NULL,
  waits INTEGER NOT NULL,
  PRIMARY KEY (receiver, event_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_key (
  id TEXT PRIMARY KEY,
  request_hash TEXT NOT NULL,
  acted_at INTEGER NOT NULL,
  answer TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_key_by_age ON idempotency_key (acted_at);

CREATE TABLE identity_name (
  name TEXT PRIMARY KEY,
  identity TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE incident (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('named', 'automatic')),
  incident_key TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'resolved')),
  severity TEXT NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  agent_id TEXT,
  check_id TEXT,
  opener_agent_id TEXT NOT NULL,
  opener_check_id TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_at INTEGER,
  member_changes INTEGER NOT NULL,
  members_warning INTEGER NOT NULL,
  members_unknown INTEGER NOT NULL,
  members_critical INTEGER NOT NULL,
  state_rank INTEGER NOT NULL GENERATED ALWAYS AS (CASE state WHEN 'open' THEN 1 ELSE 0 END) STORED,
  severity_rank INTEGER NOT NULL
    GENERATED ALWAYS AS (CASE severity WHEN 'critical' THEN 3 WHEN 'unknown' THEN 2 ELSE 1 END) STORED,
  resolved_order INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(resolved_at, 9223372036854775807)) STORED,
  phase INTEGER NOT NULL
    GENERATED ALWAYS AS (CASE WHEN state = 'resolved' THEN 0 WHEN ack_until IS NULL THEN 1 ELSE 2 END) STORED,
  summary TEXT,
  ack_by TEXT,
  ack_note TEXT,
  ack_at INTEGER,
  ack_until INTEGER,
  ack_severity TEXT,
  log_entries INTEGER NOT NULL DEFAULT 0,
  announced TEXT,
  reached_warning_at INTEGER,
  reached_unknown_at INTEGER,
  reached_critical_at INTEGER,
  next_evaluation_at INTEGER,
  resolved_by TEXT
, left_unknown_at INTEGER, left_critical_at INTEGER, forgotten_unknown_at INTEGER, forgotten_critical_at INTEGER, steps_began_at INTEGER, resolution TEXT) STRICT, WITHOUT ROWID;

CREATE INDEX incident_by_ack_end ON incident (ack_until) WHERE ack_until IS NOT NULL AND state = 'open';

CREATE INDEX incident_by_key ON incident (incident_key, kind, opened_at);

CREATE INDEX incident_by_next_evaluation ON incident (next_evaluation_at, id)
WHERE next_evaluation_at IS NOT NULL AND state = 'open';

CREATE INDEX incident_by_opened_at ON incident (phase, severity_rank, opened_at, id);

CREATE INDEX incident_by_resolved_at ON incident (phase, severity_rank, resolved_order, id);

CREATE TABLE incident_change (
  incident_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  change TEXT NOT NULL CHECK (change IN ('joined', 'worsened', 'improved', 'left')),
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  severity TEXT NOT NULL,
  incident_severity TEXT, is_late INTEGER,
  PRIMARY KEY (incident_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE incident_log (
  incident_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  logged_at INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor TEXT NOT NULL,
  text TEXT,
  ack_until INTEGER,
  severity TEXT,
  PRIMARY KEY (incident_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE incident_member (
  incident_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  change_seq INTEGER NOT NULL,
  joined_at INTEGER NOT NULL,
  left_at INTEGER,
  severity_rank INTEGER NOT NULL
    GENERATED ALWAYS AS (CASE severity WHEN 'critical' THEN 3 WHEN 'unknown' THEN 2 ELSE 1 END) STORED,
  is_present INTEGER NOT NULL GENERATED ALWAYS AS (left_at IS NULL) STORED,
  summary TEXT,
  is_loud INTEGER NOT NULL DEFAULT true, is_own INTEGER,
  PRIMARY KEY (incident_id, agent_id, check_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX incident_member_of_agent ON incident_member (agent_id) WHERE left_at IS NULL;

CREATE INDEX incident_member_of_check ON incident_member (check_id) WHERE left_at IS NULL;

CREATE INDEX incident_member_worst ON incident_member (incident_id, is_present DESC, severity_rank DESC, change_seq DESC);

CREATE INDEX incident_of_agent_by_opened_at ON incident (opener_agent_id, phase, severity_rank, opened_at, id) WHERE phase = 0;

CREATE INDEX incident_of_agent_by_resolved_at ON incident (opener_agent_id, phase, severity_rank, resolved_order, id) WHERE phase = 0;

CREATE INDEX incident_of_both_by_opened_at ON incident (opener_agent_id, opener_check_id, phase, severity_rank, opened_at, id) WHERE phase = 0;

CREATE INDEX incident_of_both_by_resolved_at ON incident (opener_agent_id, opener_check_id, phase, severity_rank, resolved_order, id) WHERE phase = 0;

CREATE INDEX incident_of_check_by_opened_at ON incident (opener_check_id, phase, severity_rank, opened_at, id) WHERE phase = 0;

CREATE INDEX incident_of_check_by_resolved_at ON incident (opener_check_id, phase, severity_rank, resolved_order, id) WHERE phase = 0;

CREATE UNIQUE INDEX incident_open ON incident (kind, incident_key) WHERE state = 'open';

CREATE INDEX incident_open_of_agent ON incident (opener_agent_id, phase, severity_rank, opened_at, id) WHERE phase > 0;

CREATE INDEX incident_open_of_check ON incident (opener_check_id, phase, severity_rank, opened_at, id) WHERE phase > 0;

CREATE TABLE integration (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  options TEXT NOT NULL,
  key_hash TEXT,
  former_key_hash TEXT,
  former_valid_until INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  last_request_at INTEGER,
  last_refused_at INTEGER,
  last_refusal TEXT,
  sources TEXT NOT NULL
, title TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE invitation (
  id TEXT PRIMARY KEY,
  operator TEXT NOT NULL,
  operator_since INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX invitation_by_end ON invitation (expires_at);

CREATE INDEX invitation_by_operator ON invitation (operator);

CREATE TABLE job_run (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  starts TEXT NOT NULL,
  log TEXT,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE kept_mail (
  id TEXT PRIMARY KEY,
  integration TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  sender TEXT NOT NULL,
  subject TEXT NOT NULL,
  outcome TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  check_id TEXT,
  status TEXT,
  reason TEXT,
  mail TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_mail_by_integration ON kept_mail (integration);

CREATE INDEX kept_mail_by_received ON kept_mail (received_at);

CREATE TABLE label (
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  PRIMARY KEY (name, value, agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE listed_check (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  state TEXT NOT NULL,
  next_evaluation_at INTEGER,
  spans TEXT NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX listed_check_by_next_evaluation
ON listed_check (next_evaluation_at, agent_id, check_id, registration_id) WHERE next_evaluation_at IS NOT NULL;

CREATE TABLE listed_member (
  id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  phase INTEGER NOT NULL,
  severity_rank INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_order INTEGER NOT NULL,
  state_rank INTEGER NOT NULL GENERATED ALWAYS AS (CASE phase WHEN 0 THEN 0 ELSE 1 END) STORED,
  PRIMARY KEY (id, agent_id, check_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX listed_member_by_opened_at ON listed_member (agent_id, check_id, phase, severity_rank, opened_at, id);

CREATE INDEX listed_member_by_resolved_at ON listed_member (agent_id, check_id, phase, severity_rank, resolved_order, id);

CREATE TABLE mailed_check (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  is_by_subject INTEGER NOT NULL,
  sender TEXT NOT NULL,
  sent_at INTEGER,
  next_evaluation_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX mailed_check_by_next_evaluation
ON mailed_check (next_evaluation_at, agent_id, check_id, registration_id);

CREATE TRIGGER member_is_listed AFTER INSERT ON incident_member WHEN EXISTS (SELECT 1 FROM incident WHERE id = NEW.incident_id
    AND (opener_agent_id, opener_check_id) <> (NEW.agent_id, NEW.check_id)) BEGIN
  INSERT INTO listed_member (id, agent_id, check_id, phase, severity_rank, opened_at, resolved_order)
    SELECT i.id, subject.agent_id, subject.check_id, CASE WHEN (i.member_changes > 100) THEN 3 ELSE i.phase END,
      CASE WHEN (i.member_changes > 100) THEN 0 ELSE i.severity_rank END, i.opened_at, i.resolved_order
    FROM incident AS i CROSS JOIN (
      SELECT NEW.agent_id AS agent_id, NEW.check_id AS check_id
      UNION ALL SELECT NEW.agent_id, '' UNION ALL SELECT '', NEW.check_id
    ) AS subject
    WHERE i.id = NEW.incident_id
      AND NOT (subject.agent_id IN ('', i.opener_agent_id) AND subject.check_id IN ('', i.opener_check_id))
    ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER member_leaves AFTER DELETE ON incident_member BEGIN
  DELETE FROM listed_member WHERE id = OLD.incident_id AND agent_id = OLD.agent_id AND check_id IN (OLD.check_id, '');
  DELETE FROM listed_member WHERE id = OLD.incident_id AND agent_id = '' AND check_id = OLD.check_id;
END;

CREATE TRIGGER members_move AFTER UPDATE OF opened_at, resolved_at, state, severity, ack_until, member_changes ON incident
WHEN NEW.member_changes > CASE NEW.state WHEN 'resolved' THEN 2 ELSE 1 END AND NOT (OLD.member_changes > 100) AND ((OLD.phase, OLD.severity_rank, OLD.opened_at, OLD.resolved_order)
  <> (NEW.phase, NEW.severity_rank, NEW.opened_at, NEW.resolved_order) OR (NEW.member_changes > 100))
BEGIN
  UPDATE listed_member
  SET phase = CASE WHEN (NEW.member_changes > 100) THEN 3 ELSE NEW.phase END,
    severity_rank = CASE WHEN (NEW.member_changes > 100) THEN 0 ELSE NEW.severity_rank END,
    opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
  WHERE id = NEW.id;
END;

CREATE TABLE monthly_report (
  name TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER,
  recipients TEXT,
  last_error TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX monthly_report_by_due ON monthly_report (due_at);

CREATE TABLE number_part (
  kind INTEGER NOT NULL,
  start INTEGER NOT NULL,
  series_id INTEGER NOT NULL,
  server TEXT NOT NULL,
  spans BLOB NOT NULL,
  PRIMARY KEY (kind, start, series_id, server)
) STRICT;

CREATE TABLE number_series (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,
  newest INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX number_series_of_check ON number_series (registration_id, check_id, name, unit);

CREATE TABLE operator (
  name TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  former_token_hash TEXT,
  former_valid_until INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX operator_by_former_token ON operator (former_token_hash) WHERE former_token_hash IS NOT NULL;

CREATE UNIQUE INDEX operator_by_token ON operator (token_hash);

CREATE TABLE "outbox" (
  id TEXT PRIMARY KEY,
  notifier TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state = 'pending' OR state = 'sending' OR state = 'sent' OR state = 'retry' OR state = 'failed' OR state = 'discarded'),
  incident_id TEXT NOT NULL,
  event_type TEXT NOT NULL CHECK (event_type IN ('firing', 'resolved')),
  incident_seq INTEGER NOT NULL,
  severity TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER,
  leased_until INTEGER,
  created_at INTEGER NOT NULL,
  age_starts_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  summary TEXT,
  last_error TEXT,
  receiver TEXT NOT NULL,
  cause TEXT,
  first_attempted_at INTEGER,
  next_evaluation_at INTEGER,
  must_send INTEGER NOT NULL DEFAULT false,
  is_backfill INTEGER NOT NULL DEFAULT false,
  released_at INTEGER,
  discarded_because TEXT,
  holds TEXT,
  rotas TEXT,
  listed_state TEXT NOT NULL
    GENERATED ALWAYS AS (CASE WHEN state = 'pending' AND next_evaluation_at IS NOT NULL THEN 'held' ELSE state END) STORED
, recipients TEXT, why TEXT, repaired_by TEXT, called_with TEXT) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_by_created_at ON outbox (listed_state, notifier, event_type, created_at, id) WHERE listed_state <> 'sending';

CREATE INDEX outbox_by_updated_at ON outbox (listed_state, notifier, event_type, updated_at, id) WHERE listed_state <> 'sending';

CREATE INDEX outbox_due ON outbox (receiver, is_backfill, next_attempt_at, id) WHERE state IN ('pending', 'retry');

CREATE INDEX outbox_held ON outbox (next_evaluation_at, id) WHERE next_evaluation_at IS NOT NULL;

CREATE INDEX outbox_leased ON outbox (leased_until, id) WHERE state = 'sending';

CREATE INDEX outbox_of_incident ON outbox (incident_id, incident_seq);

CREATE INDEX outbox_unfinished ON outbox (incident_id) WHERE state = 'pending' OR state = 'sending' OR state = 'retry';

CREATE TABLE phone_call (
  receiver TEXT PRIMARY KEY,
  began_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE place (
  agent_id TEXT NOT NULL PRIMARY KEY,
  asked_at INTEGER NOT NULL,
  leaving TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE policy_version (
  version INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  applied_at INTEGER NOT NULL,
  applied_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE push_key (
  name TEXT PRIMARY KEY,
  public_key TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  key_id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE push_subscription (
  id TEXT PRIMARY KEY,
  operator TEXT NOT NULL,
  name TEXT NOT NULL,
  service TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  key_id TEXT NOT NULL,
  session TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  taken_at INTEGER,
  tested_at INTEGER,
  shown_at INTEGER,
  last_error TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX push_subscription_by_creation ON push_subscription (created_at, id);

CREATE INDEX push_subscription_by_expiry ON push_subscription (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX push_subscription_by_operator ON push_subscription (operator, created_at, id);

CREATE TABLE receiver_secrets (
  name TEXT PRIMARY KEY,
  keys TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  key_id TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE removed_registration (
  registration_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE replica (
  id TEXT PRIMARY KEY,
  version TEXT NOT NULL,
  policy_hash TEXT NOT NULL,
  receivers TEXT NOT NULL,
  probes INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  ended_at INTEGER
, agent_sha256 TEXT, known_names TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE reported_alert (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  source TEXT NOT NULL,
  lease_millis INTEGER,
  next_evaluation_at INTEGER NOT NULL,
  address TEXT,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX reported_alert_by_next_evaluation ON reported_alert (next_evaluation_at, agent_id, check_id, registration_id);

CREATE TABLE rota_override (
  id TEXT PRIMARY KEY,
  rota TEXT NOT NULL,
  receivers TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  note TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX rota_override_by_end ON rota_override (ends_at);

CREATE TABLE schema_migration (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE service_heartbeat (
  name TEXT PRIMARY KEY,
  beat_at INTEGER NOT NULL,
  outage_ended_at INTEGER,
  outage_began_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  id TEXT PRIMARY KEY,
  issuer TEXT NOT NULL,
  identity TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_created ON session (created_at, id);

CREATE INDEX session_by_end ON session (expires_at);

CREATE INDEX session_by_identity ON session (identity);

CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE silence (
  id TEXT PRIMARY KEY,
  matchers TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  comment TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX silence_by_created ON silence (created_at, id);

CREATE INDEX silence_by_end ON silence (ends_at);

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE system_total (
  writer INTEGER PRIMARY KEY,
  agents_accepted INTEGER NOT NULL DEFAULT 0,
  agents_pending INTEGER NOT NULL DEFAULT 0,
  agents_dead INTEGER NOT NULL DEFAULT 0,
  checks_ok INTEGER NOT NULL DEFAULT 0,
  checks_warning INTEGER NOT NULL DEFAULT 0,
  checks_critical INTEGER NOT NULL DEFAULT 0,
  checks_unknown INTEGER NOT NULL DEFAULT 0,
  incidents_open INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE watch (
  name TEXT PRIMARY KEY,
  every_millis INTEGER NOT NULL,
  confirm TEXT NOT NULL,
  probe TEXT NOT NULL,
  origin TEXT NOT NULL,
  paused_until INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  next_probe_at INTEGER NOT NULL,
  probed_at INTEGER,
  status TEXT,
  output TEXT,
  counted TEXT,
  counted_at INTEGER,
  against INTEGER NOT NULL
, headers TEXT, places TEXT, labels TEXT, title TEXT) STRICT, WITHOUT ROWID;
