/** A public page, its feed and its badges, in English: the console shows these without the words of messages. */
export const page = {
  /** As within a sentence. Elsewhere the first letter is a capital. */
  states: {
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
} as const

/**
 * The English words, by which those of the other languages are typed: each has the same names in braces, in any order,
 * and a form for each of its plurals where English has two.
 */
export const en = {
  page,
  /** A message to a receiver. A colon or a bracket keeps what is inserted from needing a case or a gender. */
  notification: {
    /** A state within a line. */
    statuses: { ok: "ok", warning: "warning", critical: "critical", unknown: "unknown" },
    over: "{title} (resolved by now)",
    /** The same, where its check is not known to be ok. */
    ended_as: "{title} (closed by now: {ending})",
    /** Notifications of browsers have the word before the colon as their title. */
    test: "TEST: Tocsin reaches you here. Nothing is wrong.",
    /** Lengths are short, and a voice says them in words. */
    why: {
      not_reached: "Could not reach {names}",
      on_call: "On call for {rota} since {time}",
      worse: "Worse than before: was {status}",
      unacknowledged: "Nobody acknowledged for {length}",
      reminder: "Reminder: open for {length}",
      ran_out: "Acknowledgement by {name} ran out",
    },
    acknowledged: "Acknowledged by {name} until {time}",
    since: "Since {time}",
    span: "From {from} to {to} ({length})",
    members: { one: "{n} check is not ok", other: "{n} checks are not ok" },
    late: { one: "{n} check is late", other: "{n} checks are late" },
    agent: "Agent: {name}",
    check: "Check: {name}",
    acknowledge: "Acknowledge for {length}",
    runbook: "Runbook",
    labelled: "{name}: {value}",
    was: "Was: {line}",
    now: "Now: {line}",
    ended: {
      recovered: "ok again after {length}",
      reported: "reported {status} after {length}",
      deleted: "deleted by {name}",
      agent_deleted: "agent deleted by {name}",
      resolved: "resolved by {name}",
      not_expected: "no longer expected",
      not_checked: "no longer checked",
      moved: "moved to {name}",
    },
    /** Of one that ended though no result says that its check is ok. */
    not_recovered: {
      gone: "It had not recovered",
      withdrawn: "It had not recovered: the check is no longer in the configuration of its agent",
      by_hand: "By hand: no result says that it is ok",
      reported: "Still not ok: no longer late, but {status} now",
      moved: "Still not ok: it is part of the incident {name} now",
    },
    more: { one: "… and {n} more", other: "… and {n} more" },
    firing: { one: "{n} incident is firing", other: "{n} incidents are firing" },
    /** Resolutions of which some are no recovery, and the kinds of these, each before its number. */
    closed: { one: "{n} incident is closed", other: "{n} incidents are closed" },
    closed_as: { still: "still not ok", unseen: "no recovery seen", recovered: "ok again" },
    resolved: { one: "{n} incident is resolved", other: "{n} incidents are resolved" },
    fired: { one: "{n} incident fired", other: "{n} incidents fired" },
    /** Of firings that go out after their incidents have ended, each before its number. */
    over_as: { closed: "closed by now", resolved: "resolved by now" },
    state_since: "{status} since {time}",
    took: "the check took {length}",
    since_and_took: "{status} since {time}, the check took {length}",
    labels: "Labels: {labels}",
    source: "Source",
    last_result: "Last result, before it was late: {status}",
  },
  /** The words of a voice beside a message, and after a key. */
  call: {
    over: "{status}, but resolved by now",
    closed: "{status}, but closed by now",
    resolved: "resolved",
    instant: "less than a second",
    worst: "The worst: {said}",
    press: "Press 1 to acknowledge.",
    press_all: { one: "Press 1 to acknowledge all {n}.", other: "Press 1 to acknowledge all {n}." },
    ends: {
      resolved: "The incident of this call has resolved.",
      removed: "Calls to this phone acknowledge nothing any more.",
      old: "This call is older than a week, so its key does nothing.",
    },
    worse:
      "Nothing is acknowledged: the incident is {status} now, worse than this call said. Look at it in the console.",
    done: "Acknowledged for {length}. Thank you.",
    before: "It was acknowledged before, by {name}, for another {length}.",
    some: "Acknowledged {done} of {count}.",
    some_for: "Acknowledged {done} of {count} for {length}.",
  },
  /** The page of a link that acknowledges, and its answers to the worker of a browser. */
  link: {
    /** Who acknowledged by a link, after "by". */
    message_to: "a message to {name}",
    ended: "This link has ended",
    ends: {
      resolved: "The incident of this message has resolved.",
      removed: "The receiver of this message has no links that acknowledge any more.",
      old: "The message is older than a week.",
    },
    unchanged: "Nothing was changed. Open the console to see what is firing now.",
    acknowledged: "Acknowledged by {name} until {time}, up to {status}.",
    anyone: "Everyone who can read the message can use this link. It acknowledges as {actor}.",
    worse:
      "The incident is {status} now, worse than this message stated. Use the link of a newer message, or the console.",
    console: "Open the incident in the console",
    nothing: "{ended} Nothing is acknowledged.",
    worse_now: "Nothing is acknowledged: the incident is worse now. Open it in the console.",
    done: "Acknowledged until {time}.",
    before: "It is acknowledged already, by {name} until {time}.",
    open: "Open",
    no_answer: "No answer came. Nothing is known to be acknowledged.",
  },
} as const
