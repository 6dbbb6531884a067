const MINUTE = 60_000_000

/** The differences between the SQL of databases. */
interface Dialect {
  /** The type of a column of JSON. */
  readonly json: string
  readonly object: "json_object" | "json_build_object"
  readonly isTrue: string
  readonly least: "least" | "min"
  /** The names in `outbox.held_by`, with their places. */
  readonly names: string
  /** The list of the column `hold`, by `place`. */
  readonly list: string
}

/**
 * Makes holds of the names in `held_by` and of the moments of parents. Beside others, `outage` may be over. Of the
 * other ends, a decision reads that of a delay alone.
 */
export const storedHolds = ({ isTrue, json, least, list, names, object }: Dialect): string => `
ALTER TABLE outbox ADD COLUMN holds ${json};
UPDATE outbox SET holds = (
  SELECT ${list} FROM (
    SELECT place, CASE
      WHEN name = 'parent:' THEN ${object}('by', name, 'since', first_parent_ended_at, 'hasEnded', ${isTrue})
      WHEN name LIKE 'parent:%' AND parent_ended_at IS NOT NULL THEN ${object}('by', name,
        'until', ${least}(parent_ended_at + ${2 * MINUTE}, first_parent_ended_at + ${10 * MINUTE}),
        'since', first_parent_ended_at, 'hasEnded', ${isTrue})
      WHEN name LIKE 'parent:%' AND first_parent_ended_at IS NOT NULL
        THEN ${object}('by', name, 'until', first_parent_ended_at + ${10 * MINUTE}, 'since', first_parent_ended_at)
      WHEN name = 'outage' AND (next_evaluation_at IS NULL OR CAST(held_by AS text) <> '["outage"]')
        THEN ${object}('by', name, 'hasEnded', ${isTrue})
      WHEN name IN ('after', 'outage') THEN ${object}('by', name, 'until', next_evaluation_at)
      ELSE ${object}('by', name) END AS hold
    FROM (
      ${names}
      UNION ALL SELECT 'parent:', 1000
      WHERE first_parent_ended_at IS NOT NULL AND coalesce(CAST(held_by AS text), '') NOT LIKE '%"parent:%'
    ) AS named
  ) AS found
) WHERE held_by IS NOT NULL OR first_parent_ended_at IS NOT NULL;
ALTER TABLE outbox DROP COLUMN held_by;
ALTER TABLE outbox DROP COLUMN parent_ended_at;
ALTER TABLE outbox DROP COLUMN first_parent_ended_at;
`
