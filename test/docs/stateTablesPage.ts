import { JobTransitions } from "@tocsin/agent/jobs/Job"
import { SoftTransitions } from "@tocsin/contract/checks/confirmResult"
import { LogTransitions } from "@tocsin/adapter-sqlite/log/LogTransitions"
import { AcknowledgementTransitions } from "@tocsin/core/heart/model/Acknowledgement"
import { AgentKeyTransitions, AgentTransitions } from "@tocsin/core/heart/model/AgentRecord"
import { ReportTransitions } from "@tocsin/reporting/program/MemoryQueue"
import type { Transition } from "@tocsin/contract/formats/TransitionTable"
import { CheckTransitions } from "@tocsin/core/heart/model/CheckRecord"
import { ExpectationTransitions } from "@tocsin/core/heart/model/ExpectationRecord"
import { IncidentTransitions } from "@tocsin/core/heart/model/IncidentRecord"
import { OutboxTransitions } from "@tocsin/core/heart/model/OutboxRecord"
import { IdempotencyKeyTransitions } from "@tocsin/core/kernel/model/IdempotencyKeyRecord"
import { EnrolmentTransitions } from "@tocsin/core/heart/model/EnrolmentRecord"
import { CutOffTransitions } from "@tocsin/core/features/watches/cutOff"
import { AnnouncementTransitions } from "@tocsin/core/features/publicPages/AnnouncementRecord"
import { OverrideTransitions } from "@tocsin/core/heart/model/RotaOverrideRecord"
import { SecretTransitions } from "@tocsin/core/features/receivers/ReceiverSecretsRecord"
import { SilenceTransitions } from "@tocsin/core/heart/model/SilenceRecord"
import { ReplicaTransitions } from "@tocsin/core/heart/model/ReplicaRecord"
import { PagedAlertTransitions } from "@tocsin/core/features/integrations/PagedAlert"
import { RetentionRules } from "@tocsin/core/lists/retention/RetentionRules"

interface Subject {
  readonly title: string
  /** The meaning of the table, in a sentence. */
  readonly meaning: string
  readonly file: string
  readonly rows: ReadonlyArray<Transition>
  /** Whether a diagram precedes the table: for the states that users meet most. */
  readonly isDrawn?: true
}

export const subjects: ReadonlyArray<Subject> = [
  {
    title: "Agent key",
    meaning: "A key that an agent generated. Tocsin stores only its hash; its state decides what it may do.",
    file: "packages/core/src/heart/model/AgentRecord.ts",
    rows: AgentKeyTransitions,
    isDrawn: true,
  },
  {
    title: "Agent",
    meaning:
      "An agent ID, and whether its events count. Its last heartbeat decides whether it is alive, stale or dead.",
    file: "packages/core/src/heart/model/AgentRecord.ts",
    rows: AgentTransitions,
  },
  {
    title: "Check",
    meaning: "A check of an agent. Its state is the last reported one; any state may follow any other.",
    file: "packages/core/src/heart/model/CheckRecord.ts",
    rows: CheckTransitions,
  },
  {
    title: "Soft state",
    meaning:
      "A check that an agent runs with `confirm`, or a watch. The agent keeps the state in memory, and starts from the last reported status.",
    file: "packages/contract/src/checks/confirmResult.ts",
    rows: SoftTransitions,
  },
  {
    title: "Job",
    meaning:
      "A run of a job under `tocsin-agent run`, which keeps the state in memory. A note in the spool remembers its start.",
    file: "packages/agent/src/jobs/Job.ts",
    rows: JobTransitions,
    isDrawn: true,
  },
  {
    title: "Report",
    meaning:
      "A result of an agent inside a program (`createAgent`, `monitor.agent`), until the server has taken it. It waits in memory.",
    file: "packages/reporting/src/program/MemoryQueue.ts",
    rows: ReportTransitions,
  },
  {
    title: "Paged alert",
    meaning:
      "An alert of a sender that speaks to Opsgenie or PagerDuty. Its check has its status, and the incident of its check the acknowledgement.",
    file: "packages/core/src/features/integrations/PagedAlert.ts",
    rows: PagedAlertTransitions,
  },
  {
    title: "Expectation",
    meaning:
      "That a check must report. Results leave it as it is while the check is not overdue: a look at its due time reads when the check last reported.",
    file: "packages/core/src/heart/model/ExpectationRecord.ts",
    rows: ExpectationTransitions,
  },
  {
    title: "Incident",
    meaning:
      "The failing checks of one key, from the first failure to the last recovery. A resolved incident never opens again.",
    file: "packages/core/src/heart/model/IncidentRecord.ts",
    rows: IncidentTransitions,
    isDrawn: true,
  },
  {
    title: "Acknowledgement",
    meaning:
      "A person has taken care of an open incident. It ends by itself, at the latest with the incident.",
    file: "packages/core/src/heart/model/Acknowledgement.ts",
    rows: AcknowledgementTransitions,
  },
  {
    title: "Idempotency key",
    meaning: "The key of a request that must be carried out once.",
    file: "packages/core/src/kernel/model/IdempotencyKeyRecord.ts",
    rows: IdempotencyKeyTransitions,
  },
  {
    title: "Enrolment",
    meaning: "A token by which pending agents are accepted. Nothing stores its state.",
    file: "packages/core/src/heart/model/EnrolmentRecord.ts",
    rows: EnrolmentTransitions,
  },
  {
    title: "Place",
    meaning: "The network of the service, as its watches show it. The open incident is the state.",
    file: "packages/core/src/features/watches/cutOff.ts",
    rows: CutOffTransitions,
  },
  {
    title: "Silence",
    meaning:
      "Matchers and a time in which firings wait. Nothing stores its state: it follows from its times.",
    file: "packages/core/src/heart/model/SilenceRecord.ts",
    rows: SilenceTransitions,
  },
  {
    title: "Override",
    meaning:
      "Receivers and a time in which they are on call in a rota. Nothing stores its state: it follows from its times.",
    file: "packages/core/src/heart/model/RotaOverrideRecord.ts",
    rows: OverrideTransitions,
  },
  {
    title: "Announcement",
    meaning:
      "A message to the readers of a public page. Nothing stores its state: it follows from its times.",
    file: "packages/core/src/features/publicPages/AnnouncementRecord.ts",
    rows: AnnouncementTransitions,
  },
  {
    title: "Stored secrets",
    meaning:
      "The secrets of one receiver, as a server sees them: its row and its keys decide. `former` ones are opened by the second key alone.",
    file: "packages/core/src/features/receivers/ReceiverSecretsRecord.ts",
    rows: SecretTransitions,
  },
  {
    title: "Replica",
    meaning:
      "A server process, as its row shows it to the others. `silent` is computed from its last report.",
    file: "packages/core/src/heart/model/ReplicaRecord.ts",
    rows: ReplicaTransitions,
  },
  {
    title: "Outbox item",
    meaning:
      "A notification for one notifier, from the transaction of its change to its delivery or its end.",
    file: "packages/core/src/heart/model/OutboxRecord.ts",
    rows: OutboxTransitions,
    isDrawn: true,
  },
  {
    title: "SQLite log",
    meaning:
      "The write-ahead log of an open SQLite database: when its commits are durable, and what a failed sync ends. Tocsin accepts commands while it is healthy or syncing; a checkpoint runs beside both.",
    file: "packages/adapter-sqlite/src/log/LogTransitions.ts",
    rows: LogTransitions,
  },
]

const words = (trigger: string): string => trigger.replaceAll("_", " ")

const anchor = (title: string): string => title.toLowerCase().replaceAll(" ", "-")

const tableRow = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const node = (state: string): string => (state === "absent" ? "[*]" : state)

/** One arrow for each pair of states, with all that leads from the one to the other. */
const arrows = (rows: ReadonlyArray<Transition>): ReadonlyArray<string> => {
  const triggers = new Map<string, Array<string>>()
  for (const { from, to, trigger } of rows) {
    const arrow = `${node(from)} --> ${node(to)}`
    triggers.set(arrow, [...(triggers.get(arrow) ?? []), words(trigger)])
  }
  return Array.from(triggers, ([arrow, labels]) => `  ${arrow}: ${labels.join(", ")}`)
}

/** In the order in which the rows first name them. */
const statesOf = (rows: ReadonlyArray<Transition>): ReadonlyArray<string> =>
  Array.from(new Set(rows.flatMap(({ from, to }) => [from, to]))).filter((state) => state !== "absent")

const diagram = (rows: ReadonlyArray<Transition>): ReadonlyArray<string> => [
  "```mermaid",
  "stateDiagram-v2",
  ...arrows(rows),
  "```",
]

/** Rows that differ in their `from` alone are one row of the page. */
const joined = (rows: ReadonlyArray<Transition>): ReadonlyArray<string> => {
  const froms = new Map<string, Array<string>>()
  for (const { from, trigger, condition, to, effects } of rows) {
    const rest = [words(trigger), condition, to, effects].join(" | ")
    froms.set(rest, [...(froms.get(rest) ?? []), from])
  }
  return Array.from(froms, ([rest, from]) => tableRow([from.join(", "), rest]))
}

const section = ({ title, meaning, file, rows, isDrawn }: Subject): string =>
  [
    `## ${title}`,
    "",
    `${meaning} [Source](../${file})`,
    "",
    ...(isDrawn ? [...diagram(rows), ""] : []),
    tableRow(["from", "trigger", "condition", "to", "effects"]),
    tableRow(["---", "---", "---", "---", "---"]),
    ...joined(rows),
    "",
  ].join("\n")

const summary = ({ title, rows }: Subject): string =>
  tableRow([`[${title}](#${anchor(title)})`, statesOf(rows).join(", "), String(rows.length)])

const retention = (): string =>
  [
    "## Retention",
    "",
    "The rules by which Tocsin deletes rows, in their order. The bound is the current time minus a setting.",
    "A transaction reads and deletes at most 500 rows; the next one continues there. No rule changes a",
    "later decision. [Source](../packages/core/src/lists/retention/RetentionRules.ts)",
    "",
    tableRow(["rule", "subject", "expires", "stays", "rows go in this order"]),
    tableRow(["---", "---", "---", "---", "---"]),
    ...Object.entries(RetentionRules).map(([name, rule]) =>
      tableRow([words(name), rule.subject, rule.expires, rule.stays, rule.removes.map(words).join(", ")]),
    ),
    "",
  ].join("\n")

/** The page dist/state-tables.md, drawn from the tables that decisions follow. */
export const stateTablesPage = (): string =>
  [
    "# State tables",
    "",
    "Every state that Tocsin keeps, and every move between states. This page is generated from the tables",
    "that the code follows. `absent`, a dot in the diagrams, means that the subject does not exist. A row",
    "with several states in `from` stands for a move from each of them.",
    "",
    tableRow(["subject", "states", "moves"]),
    tableRow(["---", "---", "---"]),
    ...subjects.map(summary),
    "",
    "A pair of state and trigger outside the tables does not compile. A move and its effects are one",
    "transaction.",
    "",
    ...subjects.map(section),
    retention(),
  ].join("\n")
