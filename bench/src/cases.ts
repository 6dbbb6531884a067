import type { Load, Step } from "./load/Load.ts"
import { STORAGES, type StorageName } from "./processes/tocsin.ts"

interface Case<Kind extends string, Storage extends StorageName = StorageName> {
  readonly kind: Kind
  readonly name: string
  readonly storage: Storage
}

/** As many requests as are answered, compared with limits. */
export interface ThroughputCase extends Case<"throughput"> {
  readonly load: Load
  readonly connections: number
  /** The target as a part of the raw limit, if any. */
  readonly ofRaw?: number
  /** The least part of PostgreSQL's limit: upserts of so many rows a statement. */
  readonly ofUpserts?: { readonly rows: 1 | 50; readonly target: number }
}

/** A server with features, in turn with one that has none configured. */
export interface FeaturesCase extends Case<"features"> {
  readonly load: Load
  readonly connections: number
  /** The most processor time, as a multiple of that without features. */
  readonly most: number
}

/** A server that has much of something, in turn with one that has little. */
export interface GrowthCase extends Case<"growth"> {
  readonly load: Load
  readonly connections: number
  /** Agents, open incidents and rows of history are others than those of the load. */
  readonly of: "agents" | "incidents" | "routes" | "history"
  readonly few: number
  readonly many: number
  /** As many with `--large`. */
  readonly large?: number
  /** The most processor time, as a multiple of that with few. */
  readonly most: number
}

/** A first start in a fresh clone of the measured checkout, which fetches what a server needs. */
export type FirstStartCase = Case<"first-start", "sqlite">

/** Heartbeats over one connection, compared with one synced commit. */
export interface LatencyCase extends Case<"latency"> {
  /** The most commits that a heartbeat may take; memory has no commit to compare with. */
  readonly commits?: number
}

/** Heartbeats at half of the rate that they can be taken at, compared with raw at the same rate. */
export interface HalfLoadCase extends Case<"half-load"> {
  readonly connections: number
  /** The longest p99, as a multiple of the raw limit's. */
  readonly ofRaw: number
}

/** Heartbeats with a tracer that keeps a share of them, compared with no tracer. */
export interface TracedCase extends Case<"traced"> {
  readonly connections: number
  /** The share that is kept, and the most processor time as a multiple of that without a tracer. */
  readonly shares: ReadonlyArray<{ readonly kept: number; readonly most: number }>
}

/** Memory of a server with nothing to do. */
export interface IdleCase extends Case<"idle"> {
  readonly mostMiB: number
}

/** Memory of a server under load for a long time. */
export interface SoakCase extends Case<"soak"> {
  readonly load: Load
  readonly connections: number
  readonly mostMiB: number
  /** The most that memory may be at the last tenth, as a multiple of that at the second. */
  readonly growth: number
}

/**
 * As many requests as several servers on one PostgreSQL answer together, compared with one of them.
 */
export interface ScaleOutCase extends Case<"scale-out", "postgres"> {
  readonly load: Load
  readonly connections: number
  /** How many servers run at most. */
  readonly servers: number
}

/** The console in a browser, before many checks and incidents. */
export interface ConsoleCase extends Case<"console"> {
  readonly checks: number
  readonly incidents: number
}

/** The longest pause of the server while each page of the console is read, with heartbeats beside it. */
export interface PausesCase extends Case<"pauses"> {
  readonly checks: number
  readonly incidents: number
  readonly mostMillis: number
}

/** Ten thousand incidents at once, under a policy and without one. */
export interface StormCase extends Case<"storm"> {
  readonly incidents: number
  /** The least part of the rate without a policy. */
  readonly ofPlain: number
  readonly mostMiB: number
  /** How many incidents wait, each with a held notification. */
  readonly held: number
  /** The most of a core, in percent, that held notifications may take while nothing changes. */
  readonly mostHeldPercent: number
}

/** Incidents that open where nothing mutes, with and without the search for silences. */
export interface MutesCase extends Case<"mutes"> {
  /** The least part of the rate without the search. */
  readonly ofLeftOut: number
}

/** Many checks that change within seconds, while people read lists. */
export interface LargeStormCase extends Case<"large-storm"> {
  readonly incidents: number
  /** The time over which their results are sent. */
  readonly overSeconds: number
  /** The longest that a list may take. */
  readonly mostListMillis: number
}

/** One agent on its host, with checks that run once a minute. */
export interface AgentCase extends Case<"agent"> {
  readonly checks: number
  readonly mostResidentMiB: number
  readonly mostProportionalMiB: number
  /** The most of a core, in percent, without the checks' own processes. */
  readonly mostPercent: number
}

/** Short commands, as cron, prompts and scripts run them. */
export interface CommandsCase extends Case<"commands"> {
  readonly mostMillis: { readonly server: number; readonly agent: number }
  readonly mostMiB: number
}

/** Many agents that report to one server while it is restarted. */
export interface FleetCase extends Case<"fleet"> {
  readonly agents: number
}

/**
 * Other monitoring services, as far as they are installed, in turn with Tocsin on each storage. PostgreSQL is started
 * for it.
 */
export interface PeersCase extends Case<"peers", "postgres"> {
  readonly connectionsOf: Readonly<Record<Step, number>>
}

/** Integrations that are pinged and sent alerts, in turn with agents that report the same results. */
export interface IntegrationsCase extends Case<"integrations"> {
  /** Of each kind, and agents. */
  readonly integrations: number
  readonly connections: number
  /** The least part of the rate of the same results on the API, if any: a storage in memory shows the parsing alone. */
  readonly ofEvents?: number
}

/**
 * Readers of a public page, in turn with node:http that answers the same bytes and header fields; and what they cost
 * results and lists.
 */
export interface StatusPageCase extends Case<"status-page"> {
  readonly lines: number
  readonly connections: number
  readonly ofRaw: number
}

/** Scrapes of the metrics of many checks. */
export interface CheckMetricsCase extends Case<"check-metrics"> {
  readonly checks: number
  /** The most processor time of a scrape. */
  readonly mostMillis: number
}

/** Mails over many connections at once, beside heartbeats. */
export interface MailsCase extends Case<"mails"> {
  readonly mails: number
  readonly connections: number
  /** The longest pause of the event loop. */
  readonly mostMillis: number
  /** The most that further mails may add to what is in use. */
  readonly mostMoreMiB: number
}

/** Watches from several places, compared with own ones and as many plain results. */
export interface PlacesCase extends Case<"places"> {
  readonly watches: number
  readonly everySeconds: number
  readonly agents: number
  /** How many periods are measured. */
  readonly periods: number
  /** The most processor time, as a multiple of that of own watches and plain results. */
  readonly mostOfOwn: number
}

/** A year of a small installation on virtual time, then the server on a small host with what it left. */
export interface YearCase extends Case<"year", "sqlite"> {
  /** Longer than the longest retention, which shows whether disk stays flat then. */
  readonly days: number
}

export type BenchCase =
  | ThroughputCase
  | FeaturesCase
  | GrowthCase
  | FirstStartCase
  | LatencyCase
  | HalfLoadCase
  | TracedCase
  | IdleCase
  | SoakCase
  | ScaleOutCase
  | StormCase
  | MutesCase
  | LargeStormCase
  | ConsoleCase
  | PausesCase
  | AgentCase
  | CommandsCase
  | FleetCase
  | IntegrationsCase
  | StatusPageCase
  | CheckMetricsCase
  | MailsCase
  | PlacesCase
  | YearCase
  | PeersCase

const HEARTBEAT_CONNECTIONS = 64
const RESULT_CONNECTIONS = 32

/**
 * The least part of the raw limit of the same bodies, and of upserts of the same number of rows.
 */
const targets = {
  memory: { heartbeats: 0.9, unchanged: 0.15, changing: undefined },
  sqlite: { heartbeats: 0.7, unchanged: 0.12, changing: 0.045 },
  postgres: { heartbeats: 0.5, unchanged: 0.08, changing: 0.03 },
} as const satisfies Record<StorageName, Record<"heartbeats" | "unchanged" | "changing", number | undefined>>

const throughput = (storage: StorageName): ReadonlyArray<ThroughputCase> => [
  {
    kind: "throughput",
    name: `${storage}-heartbeats`,
    storage,
    load: ["heartbeat"],
    connections: HEARTBEAT_CONNECTIONS,
    ofRaw: targets[storage].heartbeats,
    ...(storage === "postgres" && { ofUpserts: { rows: 1, target: 0.8 } }),
  },
  {
    kind: "throughput",
    name: `${storage}-unchanged`,
    storage,
    load: ["unchanged"],
    connections: RESULT_CONNECTIONS,
    ofRaw: targets[storage].unchanged,
    ...(storage === "postgres" && { ofUpserts: { rows: 50, target: 0.4 } }),
  },
  {
    kind: "throughput",
    name: `${storage}-changing`,
    storage,
    load: ["changing"],
    connections: RESULT_CONNECTIONS,
    ...(targets[storage].changing !== undefined && { ofRaw: targets[storage].changing }),
  },
]

// One batch in ten changes its checks, except on memory, which keeps all history and would grow.
const SOAK: Load = ["heartbeat", ...Array.from({ length: 9 }, () => "unchanged" as const), "changing"]
const SOAK_IN_MEMORY: Load = ["heartbeat", "unchanged"]

/** All cases, in their order. */
export const allCases: ReadonlyArray<BenchCase> = [
  ...STORAGES.flatMap(throughput),
  ...STORAGES.flatMap((storage) =>
    throughput(storage).map(({ connections, load, name }): FeaturesCase => ({
      kind: "features",
      name: `${name}-features`,
      storage,
      load,
      connections,
      most: 1.25,
    })),
  ),
  ...STORAGES.flatMap((storage): ReadonlyArray<GrowthCase> => {
    const grows = { kind: "growth", storage } as const
    const results = { ...grows, load: ["changing"], connections: RESULT_CONNECTIONS } as const
    return [
      {
        ...grows,
        name: `${storage}-agents-growth`,
        load: ["heartbeat"],
        connections: HEARTBEAT_CONNECTIONS,
        of: "agents",
        few: 0,
        many: 10_000,
        large: 100_000,
        most: 1.25,
      },
      {
        ...results,
        name: `${storage}-incidents-growth`,
        of: "incidents",
        few: 0,
        many: 1_000,
        most: 1.25,
      },
      { ...results, name: `${storage}-routes-growth`, of: "routes", few: 5, many: 500, most: 2 },
      ...(storage === "memory"
        ? []
        : [
            {
              ...results,
              name: `${storage}-history-growth`,
              of: "history",
              few: 1_000,
              many: 100_000,
              large: 10_000_000,
              most: 1.25,
            } as const,
          ]),
    ]
  }),
  ...STORAGES.map((storage): LatencyCase => ({
    kind: "latency",
    name: `${storage}-latency`,
    storage,
    ...(storage !== "memory" && { commits: 3 }),
  })),
  ...STORAGES.map((storage): HalfLoadCase => ({
    kind: "half-load",
    name: `${storage}-half-load`,
    storage,
    connections: HEARTBEAT_CONNECTIONS,
    ofRaw: 5,
  })),
  ...STORAGES.map((storage): TracedCase => ({
    kind: "traced",
    name: `${storage}-heartbeats-traced`,
    storage,
    connections: HEARTBEAT_CONNECTIONS,
    shares: [
      { kept: 0.01, most: 1.1 },
      { kept: 1, most: 2 },
    ],
  })),
  ...STORAGES.map((storage): IdleCase => ({ kind: "idle", name: `${storage}-idle`, storage, mostMiB: 120 })),
  ...STORAGES.map((storage): SoakCase => ({
    kind: "soak",
    name: `${storage}-soak`,
    storage,
    load: storage === "memory" ? SOAK_IN_MEMORY : SOAK,
    connections: RESULT_CONNECTIONS,
    mostMiB: 300,
    growth: 1.05,
  })),
  ...STORAGES.map((storage): StormCase => ({
    kind: "storm",
    name: `${storage}-storm`,
    storage,
    incidents: 10_000,
    ofPlain: 0.9,
    mostMiB: 400,
    held: 100_000,
    mostHeldPercent: 1,
  })),
  ...STORAGES.map((storage): MutesCase => ({
    kind: "mutes",
    name: `${storage}-mutes`,
    storage,
    ofLeftOut: 0.97,
  })),
  ...STORAGES.map((storage): LargeStormCase => ({
    kind: "large-storm",
    name: `${storage}-large-storm`,
    storage,
    incidents: 100_000,
    overSeconds: 10,
    mostListMillis: 50,
  })),
  ...(["heartbeat", "unchanged"] as const).map((step): ScaleOutCase => ({
    kind: "scale-out",
    name: `postgres-${step === "heartbeat" ? "heartbeats" : step}-scale-out`,
    storage: "postgres",
    load: [step],
    connections: step === "heartbeat" ? HEARTBEAT_CONNECTIONS : RESULT_CONNECTIONS,
    servers: 3,
  })),
  ...STORAGES.map((storage): IntegrationsCase => ({
    kind: "integrations",
    name: `${storage}-integrations`,
    storage,
    integrations: 200,
    connections: HEARTBEAT_CONNECTIONS,
    ...(storage !== "memory" && { ofEvents: 0.8 }),
  })),
  {
    kind: "status-page",
    name: "sqlite-status-page",
    storage: "sqlite",
    lines: 20,
    connections: HEARTBEAT_CONNECTIONS,
    ofRaw: 0.15,
  },
  ...(["sqlite", "postgres"] as const).flatMap((storage): ReadonlyArray<CheckMetricsCase | MailsCase> => [
    { kind: "check-metrics", name: `${storage}-check-metrics`, storage, checks: 20_000, mostMillis: 300 },
    {
      kind: "mails",
      name: `${storage}-mails`,
      storage,
      mails: 1_000,
      connections: 20,
      mostMillis: 20,
      mostMoreMiB: 4,
    },
  ]),
  ...(["sqlite", "postgres"] as const).map((storage): PlacesCase => ({
    kind: "places",
    name: `${storage}-places`,
    storage,
    watches: 200,
    everySeconds: 30,
    agents: 5,
    periods: 3,
    mostOfOwn: 1.3,
  })),
  { kind: "console", name: "sqlite-console", storage: "sqlite", checks: 50_000, incidents: 10_000 },
  {
    kind: "pauses",
    name: "sqlite-pauses",
    storage: "sqlite",
    checks: 50_000,
    incidents: 10_000,
    mostMillis: 20,
  },
  { kind: "console", name: "postgres-console", storage: "postgres", checks: 50_000, incidents: 10_000 },
  {
    kind: "agent",
    name: "sqlite-agent",
    storage: "sqlite",
    checks: 100,
    mostResidentMiB: 75,
    mostProportionalMiB: 55,
    mostPercent: 1,
  },
  {
    kind: "commands",
    name: "sqlite-commands",
    storage: "sqlite",
    mostMillis: { server: 200, agent: 130 },
    mostMiB: 70,
  },
  { kind: "first-start", name: "sqlite-first-start", storage: "sqlite" },
  { kind: "fleet", name: "sqlite-agents", storage: "sqlite", agents: 1_000 },
  { kind: "year", name: "sqlite-year", storage: "sqlite", days: 420 },
  {
    kind: "peers",
    name: "peers",
    storage: "postgres",
    connectionsOf: {
      heartbeat: HEARTBEAT_CONNECTIONS,
      unchanged: RESULT_CONNECTIONS,
      changing: RESULT_CONNECTIONS,
    },
  },
]

/**
 * The cases of these names, storages or kinds of work; all of them when none is named. Undefined
 * for an unknown name.
 */
export const selectCases = (names: ReadonlyArray<string>): ReadonlyArray<BenchCase> | undefined => {
  const matches = (name: string) => {
    const named = allCases.filter((one) => one.name === name)
    if (named.length > 0) return named
    return allCases.filter((one) => one.name.startsWith(`${name}-`) || one.name.endsWith(`-${name}`))
  }
  if (names.length === 0) return allCases
  const chosen = names.map(matches)
  if (chosen.some((found) => found.length === 0)) return undefined
  return allCases.filter((one) => chosen.some((found) => found.includes(one)))
}
