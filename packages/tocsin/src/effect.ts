/**
 * Tocsin for Effect programs: layers, ports and use cases.
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
import "./requireNode.ts"

export * as Tocsin from "./layers/Tocsin.ts"
export { notifiers } from "./notifiers/notifiers.ts"
export { type IncidentChange, IncidentFeed } from "./live/IncidentFeed.ts"

export { Admission } from "@tocsin/core/lists/Admission"
export { Ingest } from "@tocsin/core/heart/usecases/Ingest"
export { NotFound, StateConflict } from "@tocsin/core/kernel/engine/OperationErrors"
export { Operations, Queries } from "./layers/Operations.ts"
export { ValidationError } from "@tocsin/contract/formats/Errors"
export { CheckResultEvent, EventBatchRequest, HeartbeatRequest } from "@tocsin/contract/v1/Requests"
export {
  Agent,
  CheckState,
  Incident,
  NotificationOutboxItem,
  StoredCheckResultEvent,
  SystemSummary,
} from "@tocsin/contract/v1/Resources"
export { HealthExamination } from "@tocsin/core/heart/health/HealthExamination"
export {
  type WatchdogPing,
  WatchdogReceiver,
  type DeliveryResult,
  type Notifier,
  Notifiers,
  type TestReceipt,
} from "@tocsin/core/heart/notifications/Notifiers"

export {
  AgentBlocked,
  AgentNotAccepted,
  AgentNotFound,
  KeyConflict,
  RateLimited,
} from "@tocsin/core/heart/admission/AdmissionErrors"

export {
  AgentId,
  BlacklistId,
  CheckId,
  EventId,
  IncidentId,
  IncidentKey,
  KeyFingerprint,
  OutboxId,
} from "@tocsin/contract/formats/Identifiers"
export * as Parameters from "@tocsin/contract/v1/Parameters"
export { NotifierName } from "@tocsin/contract/formats/Status"
export { hasCode, newEventId } from "@tocsin/client"
export { type Calls, TocsinClient } from "@tocsin/client/TocsinClient"
export type { RedactedClientOptions } from "@tocsin/client/options/ClientOptions"

export { Hashing } from "@tocsin/core/kernel/ports/Hashing"
export { Ids } from "@tocsin/core/kernel/ports/Ids"
export { defaultRules, RuleSettings, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
export { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
export type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
export { Outcome, reporting } from "@tocsin/core/kernel/unitOfWork/Decision"
export * as Instant from "@tocsin/contract/formats/Instant"

export * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
export * as SqliteStorage from "./layers/SqliteStorage.ts"
export * as PgStorage from "./layers/PgStorage.ts"
export * as PgClock from "./layers/PgClock.ts"
export { Readiness } from "@tocsin/core/heart/health/Readiness"
export * as ApiRoutes from "@tocsin/adapter-http/ApiRoutes"
