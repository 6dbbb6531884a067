import type { Documentation } from "../Documentation.ts"
import { opsOperations } from "./opsOperations.ts"

const description = `
What operators do beyond the frozen v1 contract (\`/openapi.json\`): dead letters, tests of notifiers, checks that need a hand, explanations. It may grow;
what is there keeps its meaning. Tokens, request ids, timestamps and errors are those of v1: one of \`SERVICE_AUTH_TOKEN\` for everything, one of
\`SERVICE_READ_TOKEN\` for reading.
`.trim()

/** What the document of /ops/v1 says beyond its definition. */
export const opsDocumentation: Documentation = {
  title: "Tocsin operations",
  summary: "What operators do beyond the v1 API.",
  description,
  server: "../..",
  tags: [
    { name: "Notifications", description: "Dead letters and tests." },
    { name: "Checks", description: "Release, delete and explain checks." },
    { name: "Incidents", description: "Incidents in full." },
  ],
  operations: opsOperations,
  responses: {
    NotFound: "No object has that name or id.",
    Conflict: "The current state does not allow it.",
  },
  messages: {
    rate_limited: "too many requests without a valid token from this address; try again in 60 s",
    conflict:
      "this outbox item has not failed, so it cannot be replayed; list failed items with GET /api/v1/notifiers/outbox?state=failed",
  },
}
