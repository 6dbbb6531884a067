import { Integrations } from "@tocsin/core/features/integrations/Integrations"
import { ResolvedChecks } from "@tocsin/core/features/integrations/resolveCheck"
import { Context } from "effect"
import { SECRET, counted, example, lastPage, type Operations } from "../../documents/examples.ts"
import type { HttpPart } from "../../HttpPart.ts"
import * as SenderRoutes from "./SenderRoutes.ts"
import type { OpsUseCases } from "../../handlers/OpsUseCases.ts"

const INTEGRATION = {
  name: "cron",
  title: "Jobs of the shop",
  kind: "ping",
  options: {},
  created_at: "2026-03-01T08:00:00.000Z",
  created_by: "ann",
  is_closed: false,
  last_request_at: "2026-03-01T08:30:00.000Z",
  last_refusal: null,
  sources: [],
  checks: 12,
  max_checks: 1_000,
  overdue: 0,
  awaited_watchdog: null,
}
const cron = { name: INTEGRATION.name }
const PING_URL = `https://tocsin.example.org/in/ping/in_${SECRET}/CHECK`
const INTEGRATION_WITH_KEY = { ...INTEGRATION, key: `in_${SECRET}`, urls: [PING_URL, `${PING_URL}/fail`] }

const FAILURE = {
  id: "019c137e-9e00-7a51-8f3c-2d4b6a8c0e1f",
  received_at: "2026-01-31T08:30:00.000Z",
  from: "root@vm",
  subject: "vm UPS myups Power Failure !!!",
  outcome: "applied",
  by: "apcupsd",
  check_id: "vm:myups:power",
  status: "critical",
}
const RETURNED = {
  ...FAILURE,
  id: "019c137f-1234-7a51-8f3c-2d4b6a8c0e1f",
  received_at: "2026-01-31T08:34:00.000Z",
  subject: "vm UPS myups Power has returned",
  status: "ok",
}

const operations: Operations = {
  listIntegrations: {
    summary: "List integrations",
    description: "Lists integrations by name, without their keys.",
    ...lastPage(INTEGRATION),
  },
  getIntegration: {
    summary: "Show an integration",
    description: "Shows an integration without its key.",
    parameters: cron,
    success: { open: ["An integration", INTEGRATION] },
  },
  removeIntegration: {
    summary: "Remove an integration",
    description: "Removes an integration with its agent, checks and history. Safe to repeat.",
    parameters: cron,
    ...counted("The integration is removed", 1),
  },
  createIntegration: {
    summary: "Create an integration",
    description:
      "Creates an integration and its agent. The answer shows the key, this once. Answers 409 if an agent or an integration has the name.",
    request: {
      usual: ["Jobs of a crontab", { name: "cron", kind: "ping" }],
      one: [
        "One check, reported by POST alone",
        { name: "backup", kind: "ping", options: { check: "backup", methods: ["POST"] } },
      ],
      alerts: [
        "Alerts of Prometheus, one incident for each name",
        {
          name: "prometheus",
          kind: "alertmanager",
          options: { group_by: ["alertname"], watchdog: "Watchdog" },
        },
      ],
    },
    success: { shown_once: ["The integration is created", INTEGRATION_WITH_KEY] },
  },
  changeIntegration: {
    summary: "Change an integration",
    description: "Replaces the options, from the next request on.",
    parameters: cron,
    request: { bounded: ["At most ten checks", { options: { max_checks: 10 } }] },
    success: { changed: ["The integration as changed", { ...INTEGRATION, options: { max_checks: 10 } }] },
  },
  listMails: {
    summary: "List the last mails of an integration",
    description:
      "Lists the last 20 mails of 7 days that an integration of kind mail got, the newest first, and what became of each. None for other kinds.",
    parameters: { name: "ups" },
    success: { two: ["Mails of a UPS", { items: [RETURNED, FAILURE] }] },
  },
  tryMail: {
    summary: "Try what becomes of a mail",
    description:
      "Says what would become of a mail, by the stored options or others. Stores nothing. Answers 409 if the integration takes no mails, or if a whole mail is given to a server without SERVICE_MAIL_PORT.",
    parameters: { name: "ups" },
    request: example("kept", "A kept mail, by other options", {
      id: FAILURE.id,
      options: { rules: [{ match: { subject: "* UPS *" }, check: "$1 ups" }] },
    }),
    success: example("applied", "It would be a result", {
      outcome: "applied",
      by: "rule 1",
      check_id: "vm_ups.8f3b2f4f0c11",
      status: "critical",
      output: FAILURE.subject,
      labels: { from: FAILURE.from, host: "vm", title: "vm ups" },
    }),
  },
  rotateIntegration: {
    summary: "Replace an integration's key",
    description:
      "Replaces the key. The answer shows the new one, this once. The former one stays valid for `grace`. Opens an integration whose key was blocked, with a new agent.",
    parameters: cron,
    request: {
      usual: ["The former key stays valid for a day", {}],
      leaked: ["The former key ends now", { grace: "0s" }],
    },
    success: { shown_once: ["The key is replaced", INTEGRATION_WITH_KEY] },
  },
}

const checks: Operations = {
  resolveCheck: {
    summary: "Resolve a check of an integration",
    description:
      "Makes a check ok by an operator's result, which is in the audit: its sender may never report that it is well. Only checks of integrations. Answers a count of 0 for a check that is ok and in time.",
    ...counted("The check is ok", 1),
  },
}

const integrationUseCases = (services: Context.Context<Integrations | ResolvedChecks>) => {
  const calls = Context.get(services, Integrations)
  return {
    listIntegrations: ({ query }) => calls.list(query),
    getIntegration: ({ params }) => calls.get(params.name),
    createIntegration: ({ payload }) => calls.create(payload),
    changeIntegration: ({ params, payload }) => calls.change(params.name, payload),
    listMails: ({ params }) => calls.mails(params.name),
    tryMail: ({ params, payload }) => calls.tryMail(params.name, payload),
    rotateIntegration: ({ params, payload }) => calls.rotate(params.name, payload),
    removeIntegration: ({ params }) => calls.remove(params.name),
    resolveCheck: ({ params }) => Context.get(services, ResolvedChecks).resolveCheck(params),
  } satisfies OpsUseCases<"integrations">
}

export const integrations = {
  tags: [
    ["Integrations", "Reports of senders that do not speak this API.", operations],
    ["Checks", undefined, checks],
  ],
  beside: { routes: SenderRoutes.routes, layer: SenderRoutes.layer },
  useCases: { group: "integrations", make: integrationUseCases },
} satisfies HttpPart
