/** The subjects of changes, each with the lists to fetch again (docs/rules.md#live-views). */
export const TopicNames = {
  agents: "agents and their keys",
  blacklist: "blocked keys",
  checks: "checks, their results and what is expected of them",
  incidents: "incidents with their timelines and acknowledgements",
  outbox: "notifications",
  silences: "silences",
  rotas: "overrides of rotas",
  policy: "the policy in force, with its windows, and stored secrets",
  announcements: "announcements of public pages",
  integrations: "integrations",
  watches: "watches",
  operators: "named operators",
  audit: "the audit",
} as const
export type Topic = keyof typeof TopicNames

// Object.keys has lost the type of the names.
export const topicNames = Object.keys(TopicNames) as ReadonlyArray<Topic>
