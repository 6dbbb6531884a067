import { tokenExamples } from "./tokenExamples.ts"
import { integrationExamples } from "./integrationExamples.ts"
import { policyExamples } from "./policyExamples.ts"
import { watchExamples } from "./watchExamples.ts"
import { incidentExamples, silenceExamples } from "./incidentExamples.ts"
import { counted, lastPage, type OperationExamples } from "./OperationExamples.ts"
import * as scenario from "./scenario.ts"

const explanation = {
  agent: scenario.AGENT,
  check: scenario.CHECK_STATE,
  reasons: [
    "The newest result, observed at 2026-01-31T08:29:58.120Z, reported critical with exit code 2.",
    "It differed from the one before and was stored as a change.",
    "It is a member of an open incident, because its status is not ok.",
  ],
  received_at: "2026-01-31T08:29:58.903Z",
  age_seconds: 62.5,
  skew_seconds: 0.783,
  last_change: scenario.STORED_EVENT,
  incident: scenario.OPEN_INCIDENT,
}

/**
 * Ids in paths. Generated parameters lose the descriptions of their schemas, which decode twice.
 */
export const pathParameters: Readonly<
  Record<string, { readonly description: string; readonly example: string }>
> = {
  name: { description: "Names an operator.", example: "ann" },
  agent_id: { description: "Names an agent; chosen by its operator.", example: "web-01" },
  check_id: { description: "Names one check of an agent.", example: "disk" },
}

/** Examples of every operation of both APIs, by the names of their endpoints. */
export const operationExamples: Readonly<Record<string, OperationExamples>> = {
  heartbeat: {
    request: {
      usual: { summary: "A web server that is well", value: scenario.HEARTBEAT },
    },
    success: {
      accepted: { summary: "An operator has accepted the key", value: { accepted: true } },
      pending: { summary: "The key waits for an operator", value: { accepted: false } },
    },
  },
  events: {
    request: {
      change: {
        summary: "A disk that has filled up, and a load that is well",
        value: { agent_id: "web-01", events: [scenario.FULL_DISK, scenario.STEADY_LOAD] },
      },
      quiet: {
        summary: "A result without notifications, in an incident that several agents share",
        value: {
          agent_id: "web-01",
          events: [{ ...scenario.FULL_DISK, notifications_enabled: false, incident_key: "storage/full" }],
        },
      },
    },
    success: {
      change: { summary: "One result was a change, one was not", value: { accepted: 1, deduplicated: 1 } },
      repeated: { summary: "The same batch once more", value: { accepted: 0, deduplicated: 2 } },
    },
  },
  health: { success: { ok: { summary: "It runs", value: { status: "ok" } } } },
  ready: { success: { ok: { summary: "It is ready", value: { status: "ok" } } } },
  listAgents: {
    success: {
      page: {
        summary: "The first of several pages",
        value: {
          items: [scenario.PENDING_AGENT, scenario.AGENT],
          next_cursor: scenario.CURSOR,
          prev_cursor: null,
        },
      },
    },
  },
  getAgent: { success: { agent: { summary: "An accepted agent that is alive", value: scenario.AGENT } } },
  deleteAgent: counted("The agent is deleted", 1),
  acceptAgent: counted("The key is accepted", 1),
  blockAgent: counted("The key is blocked", 1),
  acceptAll: counted("Three agents are accepted", 3),
  blockAll: counted("Two keys are blocked", 2),
  removeAll: counted("Two agents are removed", 2),
  listBlacklist: lastPage(scenario.BLACKLIST_ITEM),
  deleteBlacklist: counted("Four rows are deleted", 4),
  deleteBlacklistRow: {
    parameters: { key_id: scenario.BLACKLIST_ITEM.id },
    ...counted("The row is deleted", 1),
  },
  listChecks: lastPage(scenario.CHECK_STATE),
  queryEvents: lastPage(scenario.STORED_EVENT),
  listIncidents: lastPage(scenario.OPEN_INCIDENT),
  getSummary: {
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
  declareExpectations: {
    request: {
      usual: {
        summary: "A check that reports each minute, and a backup that runs each night",
        value: {
          checks: [
            { check_id: "disk", every: "1m" },
            { check_id: "backup", cron: "0 3 * * *", tz: "Europe/Berlin", grace: "1h", severity: "critical" },
          ],
          complete: true,
        },
      },
    },
    success: {
      declared: {
        summary: "Both are expected; another one no longer is",
        value: { expected: 2, withdrawn: 1 },
      },
    },
  },
  findAgents: lastPage(scenario.AGENT, "An agent that has the words"),
  listExpectedChecks: lastPage(
    {
      ...scenario.CHECK_STATE,
      expected_at: "2026-01-31T08:32:28.903Z",
      is_overdue: false,
      labels: { team: "db" },
    },
    "A check that must report within the next minutes",
  ),
  listOutbox: lastPage(scenario.OUTBOX_ITEM, "A notification that is retried in a few seconds"),
  replay: { parameters: { id: scenario.OUTBOX_ID }, ...counted("It is pending again", 1) },
  release: { parameters: { id: scenario.OUTBOX_ID }, ...counted("It is sent now", 1) },
  testNotifier: {
    parameters: { notifier: "webhook" },
    success: {
      delivered: {
        summary: "The receiver took it",
        value: { outcome: "delivered", status: 204, error: null },
      },
      refused: {
        summary: "The receiver refused it",
        value: { outcome: "refused", status: 404, error: "the receiver answered 404" },
      },
    },
  },
  resetClock: counted("The check is released", 1),
  removeCheck: counted("The check is deleted", 1),
  me: {
    success: {
      named: { summary: "A named operator", value: { name: "ann", role: "respond" } },
      of_settings: {
        summary: "A token of SERVICE_READ_TOKEN",
        value: { name: "token-5f6a1b2c", role: "read" },
      },
    },
  },
  listAudit: lastPage({
    id: scenario.OUTBOX_ID,
    at: "2026-03-01T08:30:00.000Z",
    actor: "ann",
    via: "api",
    action: "agent.accepted",
    subjects: [{ kind: "agent", id: "web-1" }],
    parameters: {},
    request_id: "0195514a-1c40-7a00-8000-000000000001",
  }),
  ...tokenExamples,
  ...integrationExamples,
  ...watchExamples,
  ...policyExamples,
  listWindows: {
    success: {
      one: {
        summary: "One window",
        value: {
          items: [
            {
              ...scenario.POLICY.windows[0],
              occurrences: [{ starts_at: "2026-02-01T01:00:00.000Z", ends_at: "2026-02-01T05:00:00.000Z" }],
            },
          ],
        },
      },
    },
  },
  stream: {
    success: {
      usual: {
        summary: "The beginning of a stream, and one event",
        value: `: open\n\ndata: {"topics":["incidents","outbox"],"at":"${scenario.OPEN_INCIDENT.opened_at}"}\n\n`,
      },
    },
  },
  ...incidentExamples,
  ...silenceExamples,
  explain: {
    parameters: { agent_id: "web-01", check_id: "disk" },
    success: { critical: { summary: "A check that is critical", value: explanation } },
  },
}
