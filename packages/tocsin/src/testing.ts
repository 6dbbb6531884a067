/**
 * For tests: of agents and integrations against a monitor on a controllable clock, and of notifiers
 * and key-value stores of your own.
 */
import "./requireNode.ts"

export { createTestMonitor, type TestMonitor, type TestMonitorOptions } from "./testing/createTestMonitor.ts"
export { keyValueSuite, type StoreUnderTest } from "./testing/keyValueSuite.ts"
export { notifierSuite, type NotifierUnderTest } from "./testing/notifierSuite.ts"
export type { TestRunner } from "./testing/TestRunner.ts"
