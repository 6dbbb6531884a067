/** One index lookup per notifier, however many items there are. Programs bring notifiers: no list has them. */
export const notifiersOf = (condition: string): string => `(
    WITH RECURSIVE found AS (
      (SELECT o.notifier FROM outbox AS o WHERE ${condition} ORDER BY o.notifier LIMIT 1)
      UNION ALL
      SELECT (SELECT o.notifier FROM outbox AS o WHERE ${condition} AND o.notifier > found.notifier
        ORDER BY o.notifier LIMIT 1)
      FROM found WHERE found.notifier IS NOT NULL
    )
    SELECT notifier FROM found WHERE notifier IS NOT NULL
  )`
