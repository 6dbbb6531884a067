/**
 * Tocsin in your program: {@link createMonitor} starts a monitor with typed methods, HTTP handlers
 * and the background work. `tocsin/effect` has Effect layers, `tocsin/testing` tools for tests.
 *
 * @example
 * ```ts
 * import express from "express"
 * import { createMonitor, slack, sqlite } from "tocsin"
 *
 * const monitor = await createMonitor({ storage: sqlite("monitoring.db"), notifiers: [slack({ url })], operatorTokens: [token] })
 * express().use(monitor.node).listen(8080)
 * ```
 */
import "./requireNode.ts"

export { createMonitor } from "./createMonitor.ts"
export { newEventId } from "@tocsin/client"
export type { Monitor } from "./Monitor.ts"
export type {
  Extension,
  MonitorOptions,
  PushOption,
  RateOption,
  RetentionOption,
  WatchdogOption,
} from "./options/MonitorOptions.ts"
export type { DurationOption } from "@tocsin/client"
export type { PolicyOption } from "./policy/givenPolicy.ts"
export type { Log, LogEntry } from "./options/log.ts"

export { type AnyCallCode, isTocsinError, TocsinError, type TocsinErrorCode } from "./TocsinError.ts"
export type { Outcome, Reply } from "./api/Calls.ts"

export { keyValue, memory, postgres, sqlite, type StorageChoice } from "./storages/storages.ts"
export { copyStorage, type CopyStorageOptions } from "./storages/copyStorage.ts"
export type { CopiedTable } from "./storages/copyTables.ts"
export type { KeyValueOptions } from "@tocsin/adapter-memory/keyValue/KeyValueStorage"
export type { Entries, KeyValueFailure, KeyValueStore } from "@tocsin/adapter-memory/keyValue/entries"

export {
  alertRouter,
  type AlertRouterOptions,
  type BuiltInNotifier,
  debug,
  type NotifierOption,
  slack,
  type SlackOptions,
  telegram,
  type TelegramOptions,
  webhook,
  type WebhookOptions,
} from "./notifiers/notifiers.ts"
export type { CustomNotifier, Notification, SendContext, SendResult } from "./notifiers/CustomNotifier.ts"
export type { IncidentNews } from "./live/IncidentFeed.ts"
export type { NodeListener } from "./http/HttpApp.ts"
export type { LocalAgentOptions } from "./api/LocalAgents.ts"
export type {
  CheckFunction,
  CheckOptions,
  Finding,
  ProgramAgent,
  ProgramAgentState,
  ReportOptions,
} from "@tocsin/client"
export type { HeartbeatOptions } from "./api/AgentCalls.ts"

export {
  simulate,
  type SimulatedIncident,
  type SimulatedNotification,
  type Simulation,
  type SimulationInput,
  type SimulationOptions,
} from "./simulate.ts"

export type * from "@tocsin/client/Resources"
