import { SubmissionPlaces, SubmissionTransitions } from "@tocsin/adapter-pg/groups/SubmissionTransitions"
import { LogTransitions } from "@tocsin/adapter-sqlite/log/LogTransitions"
import { AgentKeyTransitions, AgentTransitions } from "@tocsin/core/admission/AdmissionTransitions"
import type { Transition } from "@tocsin/core/engine/TransitionTable"
import { CheckTransitions } from "@tocsin/core/checks/CheckTransitions"
import { IncidentTransitions } from "@tocsin/core/incidents/IncidentTransitions"
import { OutboxTransitions } from "@tocsin/core/notifications/OutboxTransitions"
import { RetentionRules } from "@tocsin/core/retention/RetentionRules"

interface Subject {
  readonly title: string
  /** What it is, in a sentence. */
  readonly meaning: string
  readonly file: string
  readonly rows: ReadonlyArray<Transition>
}

const subjects: ReadonlyArray<Subject> = [
  {
    title: "Agent key",
    meaning: "One key that an agent made. Only its hash is kept; what it may do depends on its state.",
    file: "packages/core/src/admission/AdmissionTransitions.ts",
    rows: AgentKeyTransitions,
  },
  {
    title: "Agent",
    meaning:
      "One agent id, and whether its events count. That it is alive, stale or dead follows from when it was last seen.",
    file: "packages/core/src/admission/AdmissionTransitions.ts",
    rows: AgentTransitions,
  },
  {
    title: "Check",
    meaning: "One check of one agent. Its states are what agents report; any may follow any.",
    file: "packages/core/src/checks/CheckTransitions.ts",
    rows: CheckTransitions,
  },
  {
    title: "Incident",
    meaning:
      "What is wrong under one key, from the first check that is not ok to the last one that recovers. A resolved one never opens again.",
    file: "packages/core/src/incidents/IncidentTransitions.ts",
    rows: IncidentTransitions,
  },
  {
    title: "Outbox item",
    meaning:
      "One notification for one notifier, from the transaction that it tells of to its delivery or its end.",
    file: "packages/core/src/notifications/OutboxTransitions.ts",
    rows: OutboxTransitions,
  },
  {
    title: "SQLite log",
    meaning:
      "The write-ahead log of an open SQLite database: when its commits count as durable, and when it may be moved into the file. Commands run while it is healthy, syncing or restored, and are refused otherwise.",
    file: "packages/adapter-sqlite/src/log/LogTransitions.ts",
    rows: LogTransitions,
  },
  {
    title: "Submission",
    meaning:
      "A command on its way through PostgreSQL's group commit, in memory. The architecture page names the owner of each state.",
    file: "packages/adapter-pg/src/groups/SubmissionTransitions.ts",
    rows: SubmissionTransitions,
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

const section = ({ title, meaning, file, rows }: Subject): string =>
  [
    `## ${title}`,
    "",
    meaning,
    "",
    `Source: [${file}](../${file})`,
    "",
    ...diagram(rows),
    "",
    tableRow(["from", "trigger", "condition", "to", "effects"]),
    tableRow(["---", "---", "---", "---", "---"]),
    ...rows.map((row) => tableRow([row.from, words(row.trigger), row.condition, row.to, row.effects])),
    "",
  ].join("\n")

const summary = ({ title, rows }: Subject): string =>
  tableRow([`[${title}](#${anchor(title)})`, statesOf(rows).join(", "), String(rows.length)])

const retention = (): string =>
  [
    "## Retention",
    "",
    "What Tocsin removes, rule by rule in this order. The bound is now, minus the time that a setting gives. One transaction looks at",
    "500 rows at most and removes 500 at most, whatever they belong to; the next one starts where it ended. No rule changes a later",
    "decision.",
    "",
    "Source: [packages/core/src/retention/RetentionRules.ts](../packages/core/src/retention/RetentionRules.ts)",
    "",
    tableRow(["rule", "subject", "expires", "stays", "rows go in this order"]),
    tableRow(["---", "---", "---", "---", "---"]),
    ...Object.entries(RetentionRules).map(([name, rule]) =>
      tableRow([words(name), rule.subject, rule.expires, rule.stays, rule.removes.map(words).join(", ")]),
    ),
    "",
  ].join("\n")

/** The page docs/state-tables.md, drawn from the tables that decisions follow. */
export const stateTablesPage = (): string =>
  [
    "# State tables",
    "",
    "For those who want to know what can happen: every state that Tocsin keeps, and every move it can make. This page is generated from the",
    "data that the code follows. `absent`, a dot in the diagrams, means that the subject does not exist.",
    "",
    tableRow(["subject", "states", "moves"]),
    tableRow(["---", "---", "---"]),
    ...subjects.map(summary),
    "",
    "A pair of state and trigger that is in no table does not compile, so nothing moves in another way. A move and its effects are one transaction.",
    "",
    ...subjects.map(section),
    retention(),
  ].join("\n")

/** The part of docs/architecture.md that shows the states of a submission, drawn from the same table. */
const submissionStates = (): string =>
  [
    ...diagram(SubmissionTransitions),
    "",
    tableRow(["state", "owner", "waits"]),
    "|---|---|---|",
    ...Object.entries(SubmissionPlaces).map(([state, { owner, waits }]) =>
      tableRow([state, `\`${owner}\``, waits]),
    ),
  ].join("\n")

const START = "<!-- submission states: node scripts/renderStateTables.ts -->\n"
const END = "\n<!-- end of submission states -->"

/** docs/architecture.md with that part renewed. */
export const architecturePage = (page: string): string =>
  `${page.slice(0, page.indexOf(START) + START.length)}${submissionStates()}${page.slice(page.indexOf(END))}`
