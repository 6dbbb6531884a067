import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { type Listing, listing } from "./Listing.ts"
import { ACKNOWLEDGED_UNTIL, BETWEEN } from "./population.ts"

const [a, b, severalChecks] = [AgentId.make("a"), AgentId.make("b"), AgentId.make("a.1")]
const disk = CheckId.make("disk")

export const AGENTS = listing({ list: "agents", filter: {}, sort: "agent_id", direction: "asc" })
export const BLACKLIST = listing({ list: "blacklist", filter: {}, sort: "stored", direction: "desc" })

const checks = [{}, { agent_id: severalChecks }, { status: "not_ok" as const }, { search: "D" }].map(
  (filter) => listing({ list: "checks", filter, sort: "agent_id", direction: "asc" }),
)

const history = [{}, { agent_id: b }, { agent_id: b, check_id: disk }, { check_id: disk }].map((filter) =>
  listing({ list: "history", filter, sort: "stored", direction: "desc" }),
)

const incidentFilters = [
  {},
  { state: "open" as const },
  { severity: "critical" as const },
  { agent_id: a },
  { agent_id: a, check_id: disk },
  { acknowledged: true },
  { acknowledged: true, agent_id: a },
  { acknowledged: false },
  { acknowledged: true, at: ACKNOWLEDGED_UNTIL },
  { acknowledged: false, at: ACKNOWLEDGED_UNTIL },
  { acknowledged: false, at: ACKNOWLEDGED_UNTIL, agent_id: a },
]

const incidents = incidentFilters.flatMap((filter) =>
  (["status", "opened_at", "resolved_at"] as const).flatMap((sort) =>
    (["asc", "desc"] as const).map((direction) => listing({ list: "incidents", filter, sort, direction })),
  ),
)

const incidentsBetween = [{ from: BETWEEN.from }, { ...BETWEEN, agent_id: a }, { to: BETWEEN.to }].flatMap(
  (filter) =>
    (["opened_at", "resolved_at"] as const).flatMap((sort) =>
      (["asc", "desc"] as const).map((direction) => listing({ list: "incidents", filter, sort, direction })),
    ),
)

const outboxFilters = [
  {},
  { state: "pending" as const },
  { notifier: "debug" as const, event_type: "firing" as const },
  { held: true },
  { held: true, event_type: "firing" as const },
  { held: false },
  { held: false, state: "pending" as const },
]

const outbox = outboxFilters.flatMap((filter) =>
  (["created_at", "updated_at"] as const).flatMap((sort) =>
    (["asc", "desc"] as const).map((direction) => listing({ list: "outbox", filter, sort, direction })),
  ),
)

/** Every sort in every direction, and filters of each kind; each finds several rows of the population. */
export const LISTINGS: ReadonlyArray<Listing> = [
  AGENTS,
  BLACKLIST,
  ...checks,
  ...history,
  ...incidents,
  ...incidentsBetween,
  ...outbox,
]
