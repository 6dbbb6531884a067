import * as Instant from "@tocsin/core/contract/Instant"
import { Duration } from "effect"
import { deliveryOf, isStorageWell, type ServiceState, statusOf } from "./ServiceState.ts"

/** The first page for programs: the same in JSON. */
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
