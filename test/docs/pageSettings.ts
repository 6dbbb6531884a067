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
  "docs/start/testing.md": { atLength: true },
  "docs/start/storage.md": { databaseIn: "DATABASE_URL" },
  "docs/bundling.md": {},
  "docs/writing-a-notifier.md": { atLength: true },
  "docs/writing-a-storage.md": {},
  "docs/api.md": { server: "sqlite" },
  "docs/client.md": { server: "sqlite", atLength: true },
  "docs/command-line.md": { server: "sqlite", databaseIn: "NEW_DATABASE_URL", atLength: true },
  "docs/simulation.md": {},
  "docs/policy.md": {},
  "docs/browsers.md": {
    atLength: true,
    server: "sqlite",
    environment: { SERVICE_ALLOWED_ORIGINS: "https://dashboard.example" },
  },
  "docs/operators.md": { server: "sqlite", atLength: true },
  "docs/integrations.md": { server: "sqlite", atLength: true },
  "docs/leave-opsgenie.md": { server: "sqlite", atLength: true },
  "docs/mail.md": { server: "sqlite", atLength: true },
  "docs/nagios.md": { server: "sqlite", atLength: true },
  "docs/numbers.md": { server: "sqlite", atLength: true },
  "docs/watches.md": { server: "sqlite", atLength: true },
  "docs/on-call.md": { server: "sqlite", atLength: true },
  "docs/status-page.md": { server: "sqlite", atLength: true },
  "docs/late.md": { server: "sqlite", atLength: true },
  "docs/acknowledge-and-silence.md": { server: "sqlite", atLength: true },
  "docs/errors.md": { server: "sqlite" },
  "docs/operations.md": { server: "sqlite" },
  "docs/alerts.md": { server: "sqlite", atLength: true },
  "docs/backup.md": { server: "sqlite", databaseIn: "NEW_DATABASE_URL", atLength: true },
  "docs/rotation.md": { server: "sqlite", atLength: true },
  "docs/postgresql.md": { server: "postgres", callsPostgres: true, atLength: true },
}
