import { counted, lastPage, type OperationExamples } from "./OperationExamples.ts"

const integration = {
  name: "cron",
  kind: "ping",
  options: {},
  created_at: "2026-03-01T08:00:00.000Z",
  created_by: "ann",
  is_closed: false,
  last_request_at: "2026-03-01T08:30:00.000Z",
  last_refusal: null,
  sources: [],
} as const

const key = `in_${"0123456789".repeat(4)}abc`
const url = `https://tocsin.example.org/in/ping/${key}/CHECK`

const withKey = (summary: string): OperationExamples["success"] => ({
  shown_once: { summary, value: { ...integration, key, urls: [url, `${url}/fail`] } },
})

/** Examples of the operations on integrations. */
export const integrationExamples: Readonly<Record<string, OperationExamples>> = {
  listIntegrations: lastPage(integration),
  getIntegration: {
    parameters: { name: "cron" },
    success: { open: { summary: "An integration", value: integration } },
  },
  createIntegration: {
    request: {
      usual: { summary: "Jobs of a crontab", value: { name: "cron", kind: "ping" } },
      one: {
        summary: "One check, reported by POST alone",
        value: { name: "backup", kind: "ping", options: { check: "backup", methods: ["POST"] } },
      },
      alerts: {
        summary: "Alerts of Prometheus, one incident for each name",
        value: {
          name: "prometheus",
          kind: "alertmanager",
          options: { group_by: ["alertname"], watchdog: "Watchdog" },
        },
      },
    },
    success: withKey("The integration is created"),
  },
  changeIntegration: {
    parameters: { name: "cron" },
    request: { bounded: { summary: "At most ten checks", value: { options: { max_checks: 10 } } } },
    success: {
      changed: {
        summary: "The integration as changed",
        value: { ...integration, options: { max_checks: 10 } },
      },
    },
  },
  rotateIntegration: {
    parameters: { name: "cron" },
    request: {
      usual: { summary: "The former key stays valid for a day", value: {} },
      leaked: { summary: "The former key ends now", value: { grace: "0s" } },
    },
    success: withKey("The key is replaced"),
  },
  removeIntegration: { parameters: { name: "cron" }, ...counted("The integration is removed", 1) },
}
