import type { OperationText } from "../Documentation.ts"
import * as story from "../story.ts"

const lastPage = (...items: ReadonlyArray<object>) => ({ items, next_cursor: null, prev_cursor: null })

/** What operators read. */
export const readOperations: Readonly<Record<string, OperationText>> = {
  listAgents: {
    tag: "Agents",
    description: "Lists agents, accepted and pending, by agent_id.",
    success: {
      page: {
        summary: "The first of several pages",
        value: {
          items: [story.PENDING_AGENT, story.AGENT],
          next_cursor: story.CURSOR,
          prev_cursor: null,
        },
      },
    },
  },
  getAgent: {
    tag: "Agents",
    description: "Shows one agent; its status is computed from when it was last seen.",
    success: { agent: { summary: "An accepted agent that is alive", value: story.AGENT } },
  },
  deleteAgent: {
    tag: "Agents",
    description:
      "Deletes an agent with its keys, checks and history, immediately for every reader. Incidents and notifications stay on record. A later heartbeat registers the agent again, as pending.",
    success: { done: { summary: "The agent is deleted", value: { count: 1 } } },
  },
  listChecks: {
    tag: "Checks",
    description: "Lists the current state of every check, by agent_id and check_id.",
    success: { page: { summary: "The only page", value: lastPage(story.CHECK_STATE) } },
  },
  queryEvents: {
    tag: "Checks",
    description: "Lists the results that changed their checks, newest stored first.",
    success: { page: { summary: "The only page", value: lastPage(story.STORED_EVENT) } },
  },
  listIncidents: {
    tag: "Incidents",
    description:
      "Lists incidents. By status and descending, which is the default, open ones come first, the most severe of them first, then the newest. agent_id and check_id find every incident in which such a check is or was a member.",
    parameters: {
      state: { description: "Only incidents in this state." },
      severity: { description: "Only incidents of this severity." },
    },
    success: { page: { summary: "The only page", value: lastPage(story.OPEN_INCIDENT) } },
  },
  getSummary: {
    tag: "Checks",
    description: "Counts agents, checks and open incidents. Its size does not depend on them: safe to poll.",
    success: {
      counts: {
        summary: "Two agents, of which one is pending, and one incident",
        value: {
          agents_online: 1,
          agents_offline: 0,
          checks_ok: 1,
          checks_warning: 0,
          checks_critical: 1,
          checks_unknown: 0,
          open_incidents: 1,
          generated_at: "2026-01-31T08:30:01.004Z",
        },
      },
    },
  },
  listOutbox: {
    tag: "Notifications",
    description: "Lists notifications: pending, retried and ended.",
    parameters: {
      state: { description: "Only notifications in this state." },
      notifier: { description: "Only notifications to this notifier." },
      event_type: { description: "Only notifications that say this." },
    },
    success: {
      page: {
        summary: "A notification that is retried in a few seconds",
        value: lastPage(story.OUTBOX_ITEM),
      },
    },
  },
}
