import { AgentKeyTransitions } from "@tocsin/core/admission/AgentKeyTransitions"
import { AgentTransitions } from "@tocsin/core/admission/AgentTransitions"
import { CheckTransitions } from "@tocsin/core/checks/CheckTransitions"
import { IncidentTransitions } from "@tocsin/core/incidents/IncidentTransitions"
import { OutboxTransitions } from "@tocsin/core/notifications/OutboxTransitions"
import type { Transition } from "@tocsin/core/TransitionTable"

const subjects: ReadonlyArray<readonly [title: string, file: string, rows: ReadonlyArray<Transition>]> = [
  ["Agent key", "packages/core/src/admission/AgentKeyTransitions.ts", AgentKeyTransitions],
  ["Agent", "packages/core/src/admission/AgentTransitions.ts", AgentTransitions],
  ["Check", "packages/core/src/checks/CheckTransitions.ts", CheckTransitions],
  ["Incident", "packages/core/src/incidents/IncidentTransitions.ts", IncidentTransitions],
  ["Outbox item", "packages/core/src/notifications/OutboxTransitions.ts", OutboxTransitions],
]

const words = (trigger: string): string => trigger.replaceAll("_", " ")

const tableRow = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const diagram = (rows: ReadonlyArray<Transition>): ReadonlyArray<string> => {
  const node = (state: string) => (state === "absent" ? "[*]" : state)
  const lines = rows.map((row) => `  ${node(row.from)} --> ${node(row.to)}: ${words(row.trigger)}`)
  return ["```mermaid", "stateDiagram-v2", ...lines, "```"]
}

const section = ([title, file, rows]: (typeof subjects)[number]): string =>
  [
    `## ${title}`,
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

/** The page docs/state-tables.md, drawn from the tables that decisions follow. */
export const stateTablesPage = (): string =>
  [
    "# State tables",
    "",
    "Every state that Tocsin keeps, and every move it can make. This page is generated from the data that the code follows;",
    "`absent` (a dot in the diagrams) means that the subject does not exist.",
    "",
    ...subjects.map(section),
  ].join("\n")
