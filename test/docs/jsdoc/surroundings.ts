import type * as library from "tocsin"
import type * as testing from "tocsin/testing"
import type * as storage from "tocsin/testing/storage"
import type * as remote from "tocsin/client"
import type * as effect from "effect"
import type * as chai from "vitest"
import type * as files from "node:fs/promises"
import type * as os from "node:os"
import type * as path from "node:path"

// Declarations that examples leave out: their imports, and the names that a program has.
declare global {
  type CustomNotifier = library.CustomNotifier
  const createMonitor: typeof library.createMonitor
  const isTocsinError: typeof library.isTocsinError
  const keyValue: typeof library.keyValue
  const webhook: typeof library.webhook
  const createTestMonitor: typeof testing.createTestMonitor
  const storageSuite: typeof storage.storageSuite
  const storageUnderTest: typeof storage.storageUnderTest
  const createAgent: typeof remote.createAgent
  const createClient: typeof remote.createClient
  const hasCode: typeof remote.hasCode
  const isTocsinClientError: typeof remote.isTocsinClientError
  const Effect: typeof effect.Effect
  const assert: typeof chai.assert
  const expect: typeof chai.expect
  const { mkdtemp, rm }: typeof files
  const { tmpdir }: typeof os
  const { join }: typeof path

  const [url, token, agentKey, baseUrl, key, pagerUrl]: [string, string, string, string, string, string]
  const monitor: testing.TestMonitor
  const client: remote.Client
  const calls: remote.Calls
  const shop: library.ProgramAgent
  const heartbeat: library.HeartbeatRequest
  const batch: library.EventBatchRequest
  const signal: AbortSignal
  const askAnOperator: () => void
  const countOrders: () => Promise<{ readonly waiting: number }>
  const levelStore: (database: unknown) => library.KeyValueStore
  const logFile: (file: string) => library.StorageChoice
  const openLevel: (name: string) => Promise<unknown>
  const page: library.CustomNotifier["send"]
  const pause: (seconds: number | undefined) => Promise<void>
  const show: (...shown: ReadonlyArray<unknown>) => void
}
