import type { Documentation } from "../Documentation.ts"
import { admissionOperations } from "./admissionOperations.ts"
import { agentOperations, healthOperations } from "./agentOperations.ts"
import { overview } from "./overview.ts"
import { readOperations } from "./readOperations.ts"

/** What the document of the v1 API says beyond its definition. */
export const v1Documentation: Documentation = {
  title: "Tocsin",
  summary: "Monitoring: heartbeats and check results in, incidents and notifications out.",
  description: overview,
  server: ".",
  tags: [
    { name: "Reporting", description: "What agents push, with keys of their own." },
    { name: "Agents", description: "The agents that there are." },
    { name: "Admission", description: "Whose events count: accepting and blocking keys." },
    { name: "Checks", description: "What checks say now, and what they said." },
    { name: "Incidents", description: "What is or was wrong." },
    { name: "Notifications", description: "What people are told, and how far it got." },
    { name: "Health", description: "For probes; no authentication." },
  ],
  operations: { ...agentOperations, ...healthOperations, ...readOperations, ...admissionOperations },
  responses: {},
  messages: {},
}
