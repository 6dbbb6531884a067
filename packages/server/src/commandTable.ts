import type { Command } from "effect/cli"

/** A command in the list of all. Its module is loaded where it runs or shows its help. */
const row = <Loaded extends Command.Command.Any>(name: Loaded["name"], load: () => Promise<Loaded>) => ({
  name,
  load,
})

/** All commands, in the order and the groups of `tocsin --help`. */
export const commandTable = [
  {
    group: "The service",
    commands: [
      row("serve", async () => (await import("./commands/serve.ts")).serve),
      row("doctor", async () => (await import("./commands/doctor.ts")).doctor),
      row("migrate", async () => (await import("./commands/storages.ts")).migrate),
    ],
  },
  {
    group: "Agents, incidents and notifications",
    commands: [
      row("agents", async () => (await import("./commands/agents.ts")).agents),
      row("enrolments", async () => (await import("./features/enrolment/enrolments.ts")).enrolments),
      row("watch", async () => (await import("./features/watches/watches.ts")).watch),
      row("watches", async () => (await import("./features/watches/watches.ts")).watches),
      row("places", async () => (await import("./features/watches/places.ts")).places),
      row("integrations", async () => (await import("./features/integrations/integrations.ts")).integrations),
      row("checks", async () => (await import("./commands/checks.ts")).checks),
      row("report", async () => (await import("./features/report/report.ts")).report),
      row("numbers", async () => (await import("./features/numbers/numbers.ts")).showNumbers),
      row("incidents", async () => (await import("./commands/incidents.ts")).incidents),
      row("oncall", async () => (await import("./features/onCall/onCall.ts")).onCall),
      row("silences", async () => (await import("./features/silences/silences.ts")).silences),
      row("announce", async () => (await import("./features/publicPages/announce.ts")).announce),
      row("outbox", async () => (await import("./commands/outbox.ts")).outbox),
      row("summary", async () => (await import("./commands/summary.ts")).summary),
    ],
  },
  {
    group: "Operators",
    commands: [
      row("operators", async () => (await import("./commands/operators.ts")).operators),
      row("sessions", async () => (await import("./features/signIn/sessions.ts")).sessions),
      row("browsers", async () => (await import("./features/push/browsers.ts")).browsers),
      row("audit", async () => (await import("./commands/audit.ts")).audit),
    ],
  },
  {
    group: "Policy and simulation",
    commands: [
      row("policy", async () => (await import("./commands/policy.ts")).policy),
      row("secrets", async () => (await import("./features/receivers/secrets.ts")).secrets),
      row("settings", async () => (await import("./features/settings/settings.ts")).settings),
      row("windows", async () => (await import("./commands/windows.ts")).windows),
      row("simulate", async () => (await import("./features/trial/simulate.ts")).simulate),
      row("import", async () => (await import("./commands/imports.ts")).importPolicy),
    ],
  },
  {
    group: "Backup and export",
    commands: [
      row("backup", async () => (await import("./commands/storages.ts")).backup),
      row("export", async () => (await import("./features/export/export.ts")).exportRows),
      row("copy", async () => (await import("./commands/storages.ts")).copy),
    ],
  },
] as const
