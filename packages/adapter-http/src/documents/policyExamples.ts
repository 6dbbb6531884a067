import type { OperationExamples } from "./OperationExamples.ts"
import * as scenario from "./scenario.ts"

const HASH = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"

/** Examples of the operations on the policy. */
export const policyExamples: Readonly<Record<string, OperationExamples>> = {
  getPolicy: {
    success: {
      small: {
        summary: "A policy with one receiver",
        value: {
          policy: scenario.POLICY,
          hash: HASH,
          receivers: [{ name: "chat", notifier: "messenger" }],
          replicas: [
            {
              id: "019c0ddc-3a00-7cc2-8b5a-2f1e6d0c9a47",
              version: "1.2.0",
              hash: HASH,
              receivers: ["chat"],
              unavailable: [],
              started_at: "2026-01-28T09:00:00.000Z",
              seen_at: "2026-01-30T14:20:10.000Z",
            },
          ],
          replicas_differ: false,
        },
      },
    },
  },
  getPolicySchema: {
    success: {
      start: {
        summary: "Its beginning",
        value: { $schema: "https://json-schema.org/draft/2020-12/schema", title: "Tocsin policy" },
      },
    },
  },
  listPolicyVersions: {
    success: { one: { summary: "One version", value: { items: [scenario.POLICY_VERSION] } } },
  },
  applyPolicy: {
    parameters: { "if-match": HASH },
    request: { usual: { summary: "One receiver", value: scenario.POLICY_VERSION.text } },
    success: {
      usual: {
        summary: "The stored version",
        value: { ...scenario.POLICY_VERSION, firings: [{ receiver: "chat", count: 2 }], unavailable: [] },
      },
    },
  },
  tryPolicy: {
    parameters: { since: "30d" },
    request: { usual: { summary: "A route that waits", value: "routes:\n  - after: 5m\n" } },
    success: {
      usual: {
        summary: "Fewer messages than under the policy in force",
        value: {
          since: "2025-12-31T14:20:00.000Z",
          until: "2026-01-30T14:20:00.000Z",
          history_from: "2026-01-02T07:11:09.000Z",
          results: 5_210,
          in_force: HASH,
          messages: { in_force: 106, tried: 30 },
          receivers: [{ receiver: "chat", in_force: 106, tried: 30 }],
          held: [{ receiver: "chat", held_by: ["after"], outcome: "resolved", firings: 38 }],
          unknown: ["freshness: unchanged results leave no trace, so no check counts as overdue"],
        },
      },
    },
  },
  checkPolicy: {
    request: {
      usual: { summary: "A route that names no receiver", value: "routes:\n  - to: [pager]\n" },
    },
    success: {
      valid: {
        summary: "The policy is valid",
        value: { issues: [], firings: [{ receiver: "pager", count: 3 }] },
      },
      problem: {
        summary: "The policy names a receiver that it does not define",
        value: {
          issues: [
            {
              path: "routes[0].to[0]",
              line: 2,
              message: "names no receiver; the receivers are debug",
            },
          ],
        },
      },
    },
  },
}
