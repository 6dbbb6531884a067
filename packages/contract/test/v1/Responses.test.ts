import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import {
  Agent,
  AgentBlacklistItem,
  CheckState,
  Incident,
  NotificationOutboxItem,
  StoredCheckResultEvent,
  SystemSummary,
} from "../../src/v1/Resources.ts"
import { Validation } from "../../src/api/ApiErrors.ts"
import { errorStatus } from "../../src/formats/Errors.ts"
import * as Responses from "../../src/v1/Responses.ts"
import { checkResultEvent } from "./arbitraries.ts"

const MILLIS = "2026-01-31T08:30:00.123Z"
const MICROS = "2026-01-31T08:30:00.123456Z"
const UUID = "01890a5d-ac96-774b-bcce-b302099a8057"
const HASH = "0af9".repeat(16)
const FINGERPRINT = "0af9".repeat(4)

interface Resource {
  readonly schema: Schema.ConstraintCodec<unknown, unknown>
  readonly required: Readonly<Record<string, unknown>>
  readonly optional: Readonly<Record<string, unknown>>
  /** Optional fields that may be null. */
  readonly nullable: ReadonlyArray<string>
  /** Optional fields that decoding fills in. */
  readonly defaults?: Readonly<Record<string, unknown>>
}

const RESOURCES: Readonly<Record<string, Resource>> = {
  Agent: {
    schema: Agent,
    required: {
      agent_id: "web-01",
      hostname: "web-01.example.org",
      status: "alive",
      admission_state: "accepted",
      last_seen_at: MILLIS,
      features: { push: true, metrics: false },
    },
    optional: { rotation_pending: true, key_fingerprint: FINGERPRINT, labels: { env: "prod" } },
    nullable: ["key_fingerprint"],
    defaults: { rotation_pending: false },
  },
  AgentBlacklistItem: {
    schema: AgentBlacklistItem,
    required: {
      id: HASH,
      key_fingerprint: FINGERPRINT,
      agent_id: "web-01",
      hostname: "h",
      created_at: MILLIS,
      last_seen_at: MICROS,
    },
    optional: {},
    nullable: [],
  },
  CheckState: {
    schema: CheckState,
    required: { agent_id: "web-01", check_id: "disk", status: "ok", last_observed_at: MICROS },
    optional: { exit_code: 0, incident_key: "db", summary: "DISK OK" },
    nullable: [],
  },
  StoredCheckResultEvent: {
    schema: StoredCheckResultEvent,
    required: {
      event_id: UUID,
      check_id: "disk",
      observed_at: MICROS,
      status: "warning",
      exit_code: 1,
      duration_ms: 12,
      agent_id: "web-01",
      received_at: MILLIS,
    },
    optional: { output: "DISK", output_truncated: true, notifications_enabled: false, incident_key: "db" },
    nullable: [],
    defaults: { output_truncated: false, notifications_enabled: true },
  },
  Incident: {
    schema: Incident,
    required: {
      id: UUID,
      incident_key: "web-01/disk",
      state: "open",
      severity: "critical",
      opened_at: MICROS,
    },
    optional: { agent_id: "web-01", check_id: "disk", resolved_at: MILLIS, summary: "DISK CRITICAL" },
    nullable: ["resolved_at"],
  },
  NotificationOutboxItem: {
    schema: NotificationOutboxItem,
    required: {
      id: UUID,
      notifier: "alert_router",
      state: "retry",
      incident_id: UUID,
      event_type: "firing",
      attempts: 0,
    },
    optional: { next_attempt_at: MILLIS, last_error: "timeout", updated_at: MICROS },
    nullable: ["next_attempt_at", "last_error"],
  },
  SystemSummaryResponse: {
    schema: SystemSummary,
    required: {
      agents_online: 0,
      agents_offline: 1,
      checks_ok: 2,
      checks_warning: 3,
      checks_critical: 4,
      checks_unknown: 5,
      open_incidents: 6,
      generated_at: MILLIS,
    },
    optional: {},
    nullable: [],
  },
  HealthResponse: {
    schema: Responses.HealthResponse,
    required: { status: "ok" },
    optional: {},
    nullable: [],
  },
  AcceptedResponse: {
    schema: Responses.AcceptedResponse,
    required: { accepted: false },
    optional: {},
    nullable: [],
  },
  EventBatchAcceptedResponse: {
    schema: Responses.EventBatchAcceptedResponse,
    required: { accepted: 1, deduplicated: 0 },
    optional: {},
    nullable: [],
  },
  ActionCountResponse: {
    schema: Responses.ActionCountResponse,
    required: { count: 0 },
    optional: {},
    nullable: [],
  },
}

describe.each(Object.entries(RESOURCES))("%s", (_, { schema, required, optional, nullable, defaults }) => {
  // Encoding what was decoded is what a server sends for a client that reads it.
  const roundTrip = (wire: unknown): unknown =>
    Schema.encodeSync(schema)(Schema.decodeUnknownSync(schema)(wire))

  it("is encoded with all its fields, timestamps as they were", () => {
    assert.deepStrictEqual(roundTrip({ ...required, ...optional }), { ...required, ...optional })
  })

  it("leaves absent optional fields absent", () => {
    assert.deepStrictEqual(roundTrip(required), { ...required, ...defaults })
  })

  it("allows null where the contract does, and nowhere else", () => {
    for (const field of [...Object.keys(required), ...Object.keys(optional)]) {
      const wire = { ...required, ...optional, [field]: null }
      if (nullable.includes(field)) assert.deepStrictEqual(roundTrip(wire), wire)
      else assert.throws(() => roundTrip(wire), Error, undefined, field)
    }
  })

  it("needs each required field", () => {
    for (const field of Object.keys(required)) {
      const wire = Object.fromEntries(Object.entries(required).filter(([name]) => name !== field))
      assert.throws(() => roundTrip(wire), Error, undefined, field)
    }
  })

  it("is encoded without any field of ours", () => {
    const decoded = Schema.decodeUnknownSync(schema)(required)
    assert.deepStrictEqual(Schema.encodeUnknownSync(schema)({ ...Object(decoded), registration_id: UUID }), {
      ...required,
      ...defaults,
    })
  })

  it("has counts that are not negative", () => {
    for (const [field, value] of Object.entries(required)) {
      if (typeof value !== "number" || field === "exit_code") continue
      assert.throws(() => roundTrip({ ...required, [field]: -1 }), Error, undefined, field)
    }
  })
})

describe("pages", () => {
  it.each([
    ["agents", Responses.AgentPage, "Agent"],
    ["blocked keys", Responses.AgentBlacklistPage, "AgentBlacklistItem"],
    ["checks", Responses.CheckStatePage, "CheckState"],
    ["incidents", Responses.IncidentPage, "Incident"],
    ["history", Responses.StoredCheckResultEventPage, "StoredCheckResultEvent"],
    ["outbox", Responses.NotificationOutboxPage, "NotificationOutboxItem"],
  ] as const)("of %s hold items and cursors", (_, page, resource) => {
    const schema: Schema.ConstraintCodec<unknown, unknown> = page
    const roundTrip = (wire: unknown): unknown =>
      Schema.encodeSync(schema)(Schema.decodeUnknownSync(schema)(wire))
    const { required, optional } = RESOURCES[resource] ?? assert.fail(`no sample of ${resource}`)
    const items = [{ ...required, ...optional }]
    for (const wire of [
      { items, next_cursor: "n", prev_cursor: "p" },
      { items, next_cursor: null, prev_cursor: null },
      { items: [] },
    ]) {
      assert.deepStrictEqual(roundTrip(wire), wire)
    }
    assert.throws(() => roundTrip({ next_cursor: null }))
  })
})

describe("StoredCheckResultEvent", () => {
  it("takes every event that was accepted", () => {
    fc.assert(
      fc.property(checkResultEvent, (event) => {
        const stored = Schema.decodeUnknownSync(StoredCheckResultEvent)({
          ...Schema.encodeSync(StoredCheckResultEvent)({
            ...event,
            agent_id: Schema.decodeSync(StoredCheckResultEvent.fields.agent_id)("web-01"),
            received_at: event.observed_at,
          }),
        })
        assert.deepInclude(stored, event)
      }),
    )
  })
})

describe("CheckState", () => {
  it("has a summary of at most 8192 characters", () => {
    const accepts = Schema.is(CheckState.fields.summary)
    assert.isTrue(accepts("😀".repeat(8192)))
    assert.isFalse(accepts("x".repeat(8193)))
  })
})

describe("errors", () => {
  it("have the body of the contract", () => {
    const fields = { message: "hostname is missing", request_id: "r1" }
    const wire = { error: { code: "validation", ...fields } }
    assert.deepStrictEqual(Schema.encodeSync(Validation.wire)(new Validation(fields)), wire)
  })

  it("have the codes of the contract", () => {
    assert.deepStrictEqual(
      Object.keys(errorStatus).toSorted(),
      "agent_blocked agent_not_accepted conflict forbidden internal not_found not_ready payload_too_large rate_limited unauthorized validation".split(
        " ",
      ),
    )
  })
})
