/**
 * Tocsin for programs of Effect's: the composition by layer, its ports and its use cases.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { Admission, notifiers, SqliteStorage, Tocsin } from "tocsin/effect"
 *
 * const monitoring = Tocsin.layer({
 *   storage: SqliteStorage.layer({ file: "monitoring.db" }),
 *   notifiers: notifiers([{ name: "pager", send: page }]),
 * })
 * const acceptAll = Effect.flatMap(Admission, ({ acceptAll }) => acceptAll({ includeRotation: false }))
 * Effect.runPromise(Effect.provide(acceptAll, monitoring))
 * ```
 */
export * as Tocsin from "./layers/Tocsin.ts"
export { notifiers } from "./layers/notifiers.ts"
export { IncidentFeed } from "./incidents/IncidentFeed.ts"
export type { IncidentChange } from "./incidents/IncidentChange.ts"

export { Admission } from "@tocsin/core/usecases/Admission"
export { Ingest } from "@tocsin/core/usecases/Ingest"
export { Operations } from "@tocsin/core/usecases/Operations"
export { Queries } from "@tocsin/core/usecases/Queries"

export {
  AgentBlocked,
  AgentNotAccepted,
  AgentNotFound,
  KeyConflict,
  RateLimited,
} from "@tocsin/core/admission/AdmissionErrors"
export { NotFound, StateConflict } from "@tocsin/core/usecases/OperationErrors"
export { ValidationError } from "@tocsin/core/contract/ValidationError"

export {
  AgentId,
  BlacklistId,
  CheckId,
  EventId,
  IncidentId,
  IncidentKey,
  KeyFingerprint,
  OutboxId,
} from "@tocsin/core/contract/Identifiers"
export { CheckResultEvent, EventBatchRequest } from "@tocsin/core/contract/EventBatchRequest"
export { HeartbeatRequest } from "@tocsin/core/contract/HeartbeatRequest"
export * as Parameters from "@tocsin/core/contract/Parameters"
export { Agent } from "@tocsin/core/contract/Agent"
export { CheckState } from "@tocsin/core/contract/CheckState"
export { Incident } from "@tocsin/core/contract/Incident"
export { NotificationOutboxItem } from "@tocsin/core/contract/NotificationOutboxItem"
export { StoredCheckResultEvent } from "@tocsin/core/contract/StoredCheckResultEvent"
export { SystemSummary } from "@tocsin/core/contract/SystemSummary"
export { NotifierName } from "@tocsin/core/contract/Status"
export { newEventId } from "./newEventId.ts"

export { HealthExamination } from "@tocsin/core/usecases/HealthExamination"

export { type Beat, BeatReceiver } from "@tocsin/core/ports/BeatReceiver"
export { Hashing } from "@tocsin/core/ports/Hashing"
export { Ids } from "@tocsin/core/ports/Ids"
export { type DeliveryResult, type Notifier, Notifiers, type TestReceipt } from "@tocsin/core/ports/Notifiers"
export { defaultPolicy, Policy, type PolicyOptions } from "@tocsin/core/ports/Policy"
export { Storage, StorageError } from "@tocsin/core/ports/Storage"
export * as Instant from "@tocsin/core/contract/Instant"

export * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
export * as SqliteStorage from "./layers/SqliteStorage.ts"
export * as PgStorage from "./layers/PgStorage.ts"
export * as PgClock from "./layers/PgClock.ts"
export { Readiness } from "@tocsin/adapter-http/Readiness"
export * as ApiRoutes from "@tocsin/adapter-http/ApiRoutes"
