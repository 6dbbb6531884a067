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
    { name: "Reporting", description: "Heartbeats and results that agents push." },
    { name: "Agents", description: "Registered agents." },
    { name: "Admission", description: "Accept and block agent keys." },
    { name: "Checks", description: "Current and past check results." },
    { name: "Incidents", description: "Open and resolved problems." },
    { name: "Notifications", description: "Notifications and their delivery." },
    { name: "Health", description: "For probes; no authentication." },
  ],
  operations: { ...agentOperations, ...healthOperations, ...readOperations, ...admissionOperations },
  responses: {},
  messages: {},
}
