/** Whether an incident changed its members too often to be moved with each of them. */
const isBusy = (row: string): string => `${row}.member_changes > 100`

const AMONG_MEMBERS =
  "(VALUES (m.agent_id, m.check_id), (m.agent_id, ''), ('', m.check_id)) AS of (agent_id, check_id)"

const isOfOpener = (column: "agent_id" | "check_id"): string => `of.${column} IN ('', i.opener_${column})`

/** Adds the rows of members, each once; those of a busy incident have phase 3 for good. */
const listMembers = (members: string): string => `INSERT INTO listed_member
    SELECT DISTINCT i.id, of.agent_id, of.check_id, CASE WHEN ${isBusy("i")} THEN 3 ELSE i.phase END,
      CASE WHEN ${isBusy("i")} THEN 0 ELSE i.severity_rank END, i.opened_at, i.resolved_order
    FROM ${members} AS m JOIN incident AS i ON i.id = m.incident_id CROSS JOIN LATERAL ${AMONG_MEMBERS}
    WHERE NOT (${isOfOpener("agent_id")} AND ${isOfOpener("check_id")})
    ON CONFLICT DO NOTHING`

const PLACE = ["phase", "severity_rank", "opened_at", "resolved_order"] as const

/** Whether an incident is listed elsewhere than before. */
const HAS_MOVED = `(${isBusy("OLD")}, ${PLACE.map((name) => `OLD.${name}`).join(", ")})
    IS DISTINCT FROM (${isBusy("NEW")}, ${PLACE.map((name) => `NEW.${name}`).join(", ")})`

/** False of an incident whose opener joined it, and perhaps left it: of most. */
const HAS_OTHERS = "NEW.member_changes > CASE NEW.state WHEN 'resolved' THEN 2 ELSE 1 END"

/** True of each row. */
const IN_ORDER = "phase >= 0"

/** The check that opened an incident, or a part of it, in front of an index. */
const OPENERS = [
  ["", ""],
  ["_of_agent", "opener_agent_id, "],
  ["_of_check", "opener_check_id, "],
  ["_of_both", "opener_agent_id, opener_check_id, "],
] as const

const indexesBy = (order: "opened_at" | "resolved_at", column: string): string =>
  [
    ...OPENERS.map(
      ([of, columns]) =>
        `CREATE INDEX incident${of}_by_${order} ON incident (${columns}phase, severity_rank, ${column}, id);`,
    ),
    `CREATE INDEX listed_member_by_${order} ON listed_member (agent_id, check_id, phase, severity_rank, ${column}, id) WHERE ${IN_ORDER};`,
  ].join("\n")

/**
 * Every filter and order of incidents has an index that begins with the filter, so that a page reads its
 * own rows only.
 *
 * The table of incidents has those for the check that opened each. `listed_member` has rows for other
 * members: by agent, by check, and by both; the empty text stands for all. Phases: 0 resolved, 1 open,
 * 2 acknowledged. A change moves few rows: those of an incident with more than 100 changes get phase 3
 * instead, and stay there.
 *
 * Only a statement that names the condition of the ordering indexes of `listed_member` is planned with
 * them. One that moves a row has the primary key alone: without statistics, PostgreSQL would look for the
 * row among those of all incidents.
 */
export const LISTS = `
CREATE TABLE listed_member (
  id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  phase smallint NOT NULL,
  severity_rank smallint NOT NULL,
  opened_at bigint NOT NULL,
  resolved_order bigint NOT NULL,
  state_rank smallint NOT NULL GENERATED ALWAYS AS (CASE phase WHEN 0 THEN 0 ELSE 1 END) STORED,
  PRIMARY KEY (id, agent_id, check_id)
) WITH (fillfactor = 70);

${indexesBy("opened_at", "opened_at")}
${indexesBy("resolved_at", "resolved_order")}

CREATE FUNCTION unlist_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE listed_member;
  ELSE
    DELETE FROM listed_member AS l USING earlier WHERE l.id = earlier.id;
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION move_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT ${isBusy("NEW")} THEN
    UPDATE listed_member AS l
    SET phase = NEW.phase, severity_rank = NEW.severity_rank,
      opened_at = NEW.opened_at, resolved_order = NEW.resolved_order
    WHERE l.id = NEW.id;
  ELSIF NOT ${isBusy("OLD")} THEN
    UPDATE listed_member AS l SET phase = 3, severity_rank = 0 WHERE l.id = NEW.id;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER members_move AFTER UPDATE ON incident FOR EACH ROW WHEN (${HAS_OTHERS} AND ${HAS_MOVED})
  EXECUTE FUNCTION move_members();
CREATE TRIGGER incidents_leave AFTER DELETE ON incident REFERENCING OLD TABLE AS earlier
  FOR EACH STATEMENT EXECUTE FUNCTION unlist_members();
CREATE TRIGGER incidents_are_gone AFTER TRUNCATE ON incident
  FOR EACH STATEMENT EXECUTE FUNCTION unlist_members();

CREATE FUNCTION list_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    ${listMembers("later")};
  ELSE
    DELETE FROM listed_member AS l USING earlier AS m CROSS JOIN LATERAL ${AMONG_MEMBERS}
    WHERE l.id = m.incident_id AND l.agent_id = of.agent_id AND l.check_id = of.check_id;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER members_are_listed AFTER INSERT ON incident_member REFERENCING NEW TABLE AS later
  FOR EACH STATEMENT EXECUTE FUNCTION list_members();
CREATE TRIGGER members_leave AFTER DELETE ON incident_member REFERENCING OLD TABLE AS earlier
  FOR EACH STATEMENT EXECUTE FUNCTION list_members();
`
