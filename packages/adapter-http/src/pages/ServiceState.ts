import * as Instant from "@tocsin/contract/Instant"
import type { Health } from "@tocsin/core/health/judgeHealth"
import { Duration } from "effect"

/** The service's public facts, shown without a token. */
export interface About {
  readonly version: string
  /** The kind of its storage, such as SQLite, without an address. */
  readonly storage: string
}

/**
 * The state that programs get at `/`. It contains no secret and nothing about what is monitored.
 */
export interface ServiceState extends About {
  readonly startedAt: Instant.Instant
  readonly upFor: Duration.Duration
  /** Whether it can do its work (docs/rules.md#health-and-readiness). */
  readonly isReady: boolean
  readonly health: Health
}

type FaultName = Extract<Health, { readonly state: "unwell" }>["faults"][number]["name"]

/** Whether none of these faults is known. */
const holds = ({ health }: ServiceState, ...names: ReadonlyArray<FaultName>): boolean =>
  health.state !== "unwell" || !health.faults.some(({ name }) => names.includes(name))

/** The state in a word. */
const statusOf = ({ isReady, health }: ServiceState): "stopping" | "not_ready" | "unwell" | "ok" => {
  if (health.state === "stopping") return "stopping"
  if (!isReady) return "not_ready"
  return health.state === "unwell" ? "unwell" : "ok"
}

/** Whether the storage answers and takes writes. */
const isStorageWell = (state: ServiceState): boolean =>
  state.isReady && holds(state, "storage_answers", "storage_keeps")

/** Whether notifications are delivered; unknown while the storage does not answer. */
const deliveryOf = (state: ServiceState): "in_time" | "late" | "given_up" | "unknown" => {
  if (!isStorageWell(state)) return "unknown"
  if (!holds(state, "delivery_in_time")) return "late"
  return holds(state, "nothing_given_up") ? "in_time" : "given_up"
}

/** The state in JSON. */
export const stateDocument = (state: ServiceState): object => ({
  service: "tocsin",
  version: state.version,
  status: statusOf(state),
  storage: { kind: state.storage, status: isStorageWell(state) ? "ok" : "failing" },
  notifications: { status: deliveryOf(state) },
  started_at: Instant.format(state.startedAt),
  uptime_seconds: Math.floor(Duration.toSeconds(state.upFor)),
  links: {
    documentation: "/docs",
    openapi: "/openapi.json",
    health: "/api/v1/health",
    ready: "/api/v1/ready",
    metrics: "/metrics",
  },
})
