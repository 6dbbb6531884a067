/** Each notification is sent once, and would move in both indexes when it is claimed. The few that are being sent have their leases. */
export const SENDING_LEAVES = ["created_at", "updated_at"]
  .map(
    (order) => `
DROP INDEX outbox_by_${order};
CREATE INDEX outbox_by_${order} ON outbox (listed_state, notifier, event_type, ${order}, id) WHERE listed_state <> 'sending';`,
  )
  .join("")
