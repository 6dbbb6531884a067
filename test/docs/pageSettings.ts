import type { PageSetting } from "./PageSession.ts"

/**
 * The surroundings that pages with commands and programs assume; other pages run nothing at one
 * place.
 */
export const pageSettings: Readonly<Record<string, PageSetting>> = {
  "README.md": { server: "sqlite" },
  "packages/tocsin/README.md": {},
  "docs/agent.md": { server: "sqlite" },
  "docs/start/server.md": { server: "sqlite" },
  "docs/start/library.md": {},
  "docs/start/effect.md": {},
  "docs/start/testing.md": {},
  "docs/start/storage.md": { databaseIn: "DATABASE_URL" },
  "docs/bundling.md": {},
  "docs/writing-a-notifier.md": {},
  "docs/writing-a-storage.md": {},
  "docs/api.md": { server: "sqlite" },
  "docs/client.md": { server: "sqlite" },
  "docs/command-line.md": { server: "sqlite", databaseIn: "NEW_DATABASE_URL" },
  "docs/simulation.md": {},
  "docs/policy.md": {},
  "docs/browsers.md": {
    server: "sqlite",
    environment: { SERVICE_ALLOWED_ORIGINS: "https://dashboard.example" },
  },
  "docs/operators.md": { server: "sqlite" },
  "docs/integrations.md": { server: "sqlite" },
  "docs/watches.md": { server: "sqlite" },
  "docs/overdue.md": { server: "sqlite" },
  "docs/acknowledge-and-silence.md": { server: "sqlite" },
  "docs/errors.md": { server: "sqlite" },
  "docs/operations.md": { server: "sqlite" },
  "docs/alerts.md": { server: "sqlite" },
  "docs/backup.md": { server: "sqlite", databaseIn: "NEW_DATABASE_URL" },
  "docs/rotation.md": { server: "sqlite" },
  "docs/postgresql.md": { server: "postgres", callsPostgres: true },
}
