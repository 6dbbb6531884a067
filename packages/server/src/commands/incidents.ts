import { AgentId, CheckId } from "@tocsin/core/contract/Identifiers"
import type { Incident } from "@tocsin/core/contract/Resources"
import * as Instant from "@tocsin/core/contract/Instant"
import { IncidentState, Severity } from "@tocsin/core/contract/Status"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { ageText } from "../output/ageText.ts"
import type { Column } from "../output/makeTable.ts"
import { writeList } from "../output/writeList.ts"
import * as flags from "./flags.ts"
import { show } from "./incidents/show.ts"
import { useCases } from "./UseCases.ts"

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<Incident>> => [
  { title: "INCIDENT", cell: (incident) => incident.id },
  { title: "STATE", cell: (incident) => incident.state, isState: true },
  { title: "SEVERITY", cell: (incident) => incident.severity, isState: true },
  { title: "OPENED", cell: (incident) => ageText(incident.opened_at, now), align: "right" },
  { title: "KEY", cell: (incident) => incident.incident_key, least: 16 },
  { title: "SUMMARY", cell: (incident) => incident.summary ?? "", least: 16 },
]

/** `tocsin incidents` */
export const incidents = Command.make(
  "incidents",
  {
    state: Flag.Literals("state", IncidentState.literals).pipe(
      Flag.withDescription("Only incidents of this state"),
      Flag.optional,
    ),
    severity: Flag.Literals("severity", Severity.literals).pipe(
      Flag.withDescription("Only incidents of this severity"),
      Flag.optional,
    ),
    agentId: Flag.String("agent-id").pipe(
      Flag.withDescription("Only incidents in which a check of this agent is or was"),
      Flag.withSchema(AgentId),
      Flag.optional,
    ),
    checkId: Flag.String("check-id").pipe(
      Flag.withDescription("Only incidents in which a check of this id is or was"),
      Flag.withSchema(CheckId),
      Flag.optional,
    ),
    sort: Flag.Literals("sort", ["status", "opened_at", "resolved_at"]).pipe(
      Flag.withDescription("What to order by (default: status, open and worst first)"),
      Flag.withDefault("status" as const),
    ),
    direction: flags.direction,
    limit: flags.limit,
    all: flags.all,
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ sort, direction, ...given }) {
    const queries = yield* Queries
    const filters = {
      state: Option.getOrUndefined(given.state),
      severity: Option.getOrUndefined(given.severity),
      agent_id: Option.getOrUndefined(given.agentId),
      check_id: Option.getOrUndefined(given.checkId),
    }
    return yield* writeList(
      {
        page: (parameters) => queries.incidents({ ...filters, ...parameters, sort, direction }),
        columns: columnsAt(yield* Instant.now),
        of: "incidents",
      },
      given,
    )
  }, Effect.provide(useCases)),
).pipe(
  Command.withDescription("List incidents, or show one with its members and its story"),
  Command.withExamples([
    { command: "tocsin incidents --state open" },
    { command: "tocsin incidents show 01a1f84d-4efb-7559-999e-636ca4ce6bd6" },
  ]),
  Command.withSubcommands([show]),
)
