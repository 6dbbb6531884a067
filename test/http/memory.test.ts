import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { describe } from "@effect/vitest"
import { Layer } from "effect"
import { admissionSuite } from "./admissionSuite.ts"
import { authenticationSuite } from "./authenticationSuite.ts"
import { bodySizeSuite } from "./bodySizeSuite.ts"
import { concurrencySuite } from "./concurrencySuite.ts"
import { cursorSuite } from "./cursorSuite.ts"
import { deliverySuite } from "./deliverySuite.ts"
import { endpointErrorSuite, endpointSuite } from "./endpointSuite.ts"
import { eventFieldSuite } from "./eventFieldSuite.ts"
import { eventSemanticsSuite } from "./eventSemanticsSuite.ts"
import { filterSuite } from "./filterSuite.ts"
import { headerSuite } from "./headerSuite.ts"
import { heartbeatFieldSuite } from "./heartbeatFieldSuite.ts"
import { hostileBodySuite } from "./hostileBodySuite.ts"
import { hostileConnectionSuite } from "./hostileConnectionSuite.ts"
import { interruptionSuite } from "./interruptionSuite.ts"
import { orderSuite } from "./orderSuite.ts"
import { pagingSuite } from "./pagingSuite.ts"
import { pathSuite } from "./pathSuite.ts"
import { querySuite } from "./querySuite.ts"
import { readinessSuite } from "./readinessSuite.ts"
import { storageFailureSuite } from "./storageFailureSuite.ts"
import { summarySuite } from "./summarySuite.ts"
import { walkSuite } from "./walkSuite.ts"

const subject = { name: "memory", place: Layer.empty, client: MemoryStorage.layer }

describe("HTTP contract: memory", () => {
  describe("endpoints", () => endpointSuite(subject))
  describe("errors of endpoints", () => endpointErrorSuite(subject))
  describe("authentication", () => authenticationSuite(subject))
  describe("paths", () => pathSuite(subject))
  describe("order of checks", () => orderSuite(subject))
  describe("size of bodies", () => bodySizeSuite(subject))
  describe("headers", () => headerSuite(subject))
  describe("fields of heartbeats", () => heartbeatFieldSuite(subject))
  describe("fields of events", () => eventFieldSuite(subject))
  describe("queries", () => querySuite(subject))
  describe("filters", () => filterSuite(subject))
  describe("cursors", () => cursorSuite(subject))
  describe("paging", () => pagingSuite(subject))
  describe("hostile bodies", () => hostileBodySuite(subject))
  describe("hostile connections", () => hostileConnectionSuite(subject))
  describe("walk", () => walkSuite(subject))
  describe("events", () => eventSemanticsSuite(subject))
  describe("admission", () => admissionSuite(subject))
  describe("delivery", () => deliverySuite(subject))
  describe("summary", () => summarySuite(subject))
  describe("failures of the storage", () => storageFailureSuite(subject))
  describe("readiness", () => readinessSuite(subject))
  describe("interruptions", () => interruptionSuite(subject))
  describe("many clients", () => concurrencySuite(subject, 24))
})
