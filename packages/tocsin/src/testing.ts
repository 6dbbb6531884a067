/**
 * For tests: of agents and integrations against a monitor on a controllable clock, and of notifiers
 * of your own.
 */
import "./requireNode.ts"

export { createTestMonitor, type TestMonitor, type TestMonitorOptions } from "./testing/createTestMonitor.ts"
export { notifierSuite, type NotifierUnderTest, type TestRunner } from "./testing/notifierSuite.ts"
