import type * as library from "tocsin"
import type * as testing from "tocsin/testing"
import type * as storage from "tocsin/testing/storage"
import type * as remote from "tocsin/client"
import type * as layers from "tocsin/effect"
import type * as effect from "effect"
import type * as chai from "vitest"
import type * as files from "node:fs/promises"
import type * as os from "node:os"
import type * as path from "node:path"

// Declarations that examples leave out: their imports, and the names that a program has.
export type CustomNotifier = library.CustomNotifier
export declare const { copyStorage, postgres, sqlite }: typeof library
export declare const createMonitor: typeof library.createMonitor
export declare const isTocsinError: typeof library.isTocsinError
export declare const keyValue: typeof library.keyValue
export declare const webhook: typeof library.webhook
export declare const createTestMonitor: typeof testing.createTestMonitor
export declare const storageSuite: typeof storage.storageSuite
export declare const storageUnderTest: typeof storage.storageUnderTest
export declare const createAgent: typeof remote.createAgent
export declare const createClient: typeof remote.createClient
export declare const hasCode: typeof remote.hasCode
export declare const isTocsinClientError: typeof remote.isTocsinClientError
export declare const Effect: typeof effect.Effect
export declare const assert: typeof chai.assert
export declare const expect: typeof chai.expect
export declare const { mkdtemp, rm }: typeof files
export declare const { tmpdir }: typeof os
export declare const { join }: typeof path

export declare const [url, token, agentKey, baseUrl, key, pagerUrl]: [
  string,
  string,
  string,
  string,
  string,
  string,
]
export declare const monitor: testing.TestMonitor
export declare const client: remote.Client
export declare const calls: layers.Calls
export declare const shop: library.ProgramAgent
export declare const heartbeat: library.HeartbeatRequest
export declare const batch: library.EventBatchRequest
export declare const signal: AbortSignal
export declare const askAnOperator: () => void
export declare const countOrders: () => Promise<{ readonly waiting: number }>
export declare const levelStore: (database: unknown) => library.KeyValueStore
export declare const logFile: (file: string) => library.StorageChoice
export declare const openLevel: (name: string) => Promise<unknown>
export declare const page: library.CustomNotifier["send"]
export declare const pause: (seconds: number | undefined) => Promise<void>
export declare const show: (...shown: ReadonlyArray<unknown>) => void
