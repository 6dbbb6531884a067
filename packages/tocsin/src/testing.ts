/**
 * For tests: of agents and integrations against a monitor on a controllable clock, and of notifiers
 * of your own.
 */
export { createTestMonitor } from "./testing/createTestMonitor.ts"
export type { TestMonitor, TestMonitorOptions } from "./testing/createTestMonitor.ts"
export { notifierSuite } from "./testing/notifierSuite.ts"
export type { NotifierUnderTest, TestRunner } from "./testing/notifierSuite.ts"
