/**
 * The English words, by which those of the other languages are typed: each has the same names in braces, in any order,
 * and a form for each of its plurals where English has two.
 */
export const en = {
  /** A public page, its feed and its badges. */
  page: {
    states: {
      operational: "Operational",
      degraded: "Degraded",
      down: "Down",
      maintenance: "Maintenance",
      no_data: "No data",
    },
    /** The same within a sentence, at the end of a title and on a badge. */
    within: {
      operational: "operational",
      degraded: "degraded",
      down: "down",
      maintenance: "maintenance",
      no_data: "no data",
    },
    headlines: {
      operational: "All services are operational",
      degraded: "Some services are degraded",
      down: "Some services are down",
      maintenance: "Some services are under maintenance",
      no_data: "There is no data yet",
    },
    kinds: { incident: "Incident", maintenance: "Maintenance", notice: "Notice" },
    begins: { scheduled: "Begins {time}", open: "Since {time}", ended: "From {time}" },
    ends: { scheduled: "Ends {time}", open: "Ends {time}", ended: "Ended {time}" },
    called_off: "Called off {time}",
    planned_for: "Planned for {time}",
    open_incidents: { one: "{n} open incident", other: "{n} open incidents" },
    as_of: "As of {time}.",
    outdated: "Newer states cannot be read now.",
    planned: "Planned",
    past: "Past announcements",
    announcements: "Announcements",
    last_days: { one: "Last {n} day", other: "Last {n} days" },
    day: "{day}: {state}, {lasted}",
    no_fault: "no fault",
    no_fault_since: "no fault since {day}",
    now: "{state} now",
    more: "and {n} more",
    available: "{percent} % available",
    available_since: "{percent} % available since {day}",
    renews: "This page renews itself every minute. Also as {json}.",
    renews_feed: "This page renews itself every minute. Also as {json} and as a {feed}.",
    feed: "feed",
    update: "{title} (update)",
    ended: "{title} (ended)",
    ended_early: "{title} (called off)",
    unready:
      "This page cannot be shown yet, because its states are still being read, or cannot be read now. Your browser tries again every 15 seconds.",
  },
} as const
