import { assert, describe, it } from "@effect/vitest"
import { Result, type Schema, SchemaParser } from "effect"
import { AvailabilityParameters } from "../../src/availability/Availability.ts"
import { describeIssue } from "../../src/formats/describeIssue.ts"
import { ValidationError } from "../../src/formats/Errors.ts"
import * as Parameters from "../../src/v1/Parameters.ts"
import { verdict } from "./samples.ts"

const decoding = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const read = SchemaParser.decodeUnknownResult(schema)
  return (raw: unknown) =>
    Result.mapError(
      read(raw),
      (issue) => new ValidationError({ message: describeIssue(issue, "the parameters") }),
    )
}

const decode = {
  agents: decoding(Parameters.PageParameters),
  checks: decoding(Parameters.CheckListParameters),
  history: decoding(Parameters.EventListParameters),
  incidents: decoding(Parameters.IncidentListParameters),
  outbox: decoding(Parameters.OutboxListParameters),
  blacklist: decoding(Parameters.BlacklistParameters),
  acceptAll: decoding(Parameters.AcceptAllParameters),
  agentPath: decoding(Parameters.AgentPathParameters),
  blacklistPath: decoding(Parameters.BlacklistPathParameters),
}

const LISTS = [
  ["agents", decode.agents],
  ["checks", decode.checks],
  ["history", decode.history],
  ["incidents", decode.incidents],
  ["outbox", decode.outbox],
] as const
const WITH_BLACKLIST = [...LISTS, ["blacklist", decode.blacklist]] as const

const LIMIT_RULE = "limit must be an integer from 1 to 500"
const CURSOR_RULE = "cursor must be a string of 1 to 512 characters without control characters"
const NAME_RULE = "must be 1 to 128 letters, digits or the characters . _ : -"

describe.each(WITH_BLACKLIST)("the query of %s", (_, parameters) => {
  const read = (raw: unknown) => verdict(parameters(raw))

  it("has a limit of 1 to 500, 100 when absent", () => {
    assert.strictEqual(Result.getOrThrow(parameters({})).limit, 100)
    for (const limit of [1, 9, 10, 99, 499, 500]) {
      assert.strictEqual(Result.getOrThrow(parameters({ limit: String(limit) })).limit, limit)
    }
    for (const limit of ["", "0", "501", "1000", "-1", "+1", "1.0", "1e2", " 1", "0x10", "05", "ten", "１"]) {
      assert.strictEqual(read({ limit }), LIMIT_RULE, limit)
    }
  })

  it("has a cursor of 1 to 512 characters, or none", () => {
    assert.isFalse("cursor" in Result.getOrThrow(parameters({})))
    assert.strictEqual(Result.getOrThrow(parameters({ cursor: "x".repeat(512) })).cursor, "x".repeat(512))
    for (const cursor of ["", "x".repeat(513), "a\0"]) assert.strictEqual(read({ cursor }), CURSOR_RULE)
  })

  it("ignores unknown parameters, however often they are given", () => {
    assert.deepStrictEqual(parameters({ colour: ["red", "blue"], "": "" }), parameters({}))
  })
})

describe.each(LISTS)("the query of %s", (_, parameters) => {
  it("has back, true or false and nothing else, false when absent", () => {
    assert.isFalse(Result.getOrThrow(parameters({})).back)
    assert.isTrue(Result.getOrThrow(parameters({ back: "true" })).back)
    assert.isFalse(Result.getOrThrow(parameters({ back: "false" })).back)
    for (const back of ["", "TRUE", "1", "yes", "true "]) {
      assert.strictEqual(verdict(parameters({ back })), "back must be true or false")
    }
  })
})

describe("the checks of an availability", () => {
  const read = decoding(AvailabilityParameters)

  it("are up to 100 names with commas between them", () => {
    const many = Array.from({ length: 100 }, (_, index) => `web-${index}/disk`)
    const { checks = [] } = Result.getOrThrow(read({ checks: many.join() }))
    assert.deepStrictEqual(
      checks.map(({ agent_id, check_id }) => `${agent_id}/${check_id}`),
      many,
    )
    const rule =
      "checks must be at most 100 names of checks with commas between them, such as web1/disk,web2/load"
    for (const checks of ["", "web1", "web1/", "web1/disk,", "web1/disk/a", [...many, "web1/disk"].join()])
      assert.strictEqual(verdict(read({ checks })), rule, checks)
  })
})

describe("filters and sorts", () => {
  it("have the defaults of the contract", () => {
    const paging = { limit: 100, back: false }
    assert.deepStrictEqual(Result.getOrThrow(decode.agents({})), paging)
    assert.deepStrictEqual(Result.getOrThrow(decode.checks({})), paging)
    assert.deepStrictEqual(Result.getOrThrow(decode.history({})), paging)
    assert.deepStrictEqual(Result.getOrThrow(decode.blacklist({})), { limit: 100 })
    assert.deepStrictEqual(Result.getOrThrow(decode.incidents({})), {
      ...paging,
      sort: "status",
      direction: "desc",
    })
    assert.deepStrictEqual(Result.getOrThrow(decode.outbox({})), {
      ...paging,
      sort: "updated_at",
      direction: "desc",
    })
    assert.deepStrictEqual(Result.getOrThrow(decode.acceptAll({})), {
      include_rotation: false,
    })
  })

  it("take every value of the contract, and no other", () => {
    const incidents: Readonly<Record<string, ReadonlyArray<string>>> = {
      state: ["open", "resolved"],
      severity: ["warning", "critical", "unknown"],
      sort: ["status", "opened_at", "resolved_at"],
      direction: ["asc", "desc"],
    }
    const outbox: Readonly<Record<string, ReadonlyArray<string>>> = {
      state: ["pending", "sending", "sent", "retry", "failed", "discarded"],
      notifier: ["debug", "messenger", "webhook", "alert_router"],
      event_type: ["firing", "resolved"],
      sort: ["created_at", "updated_at"],
      direction: ["asc", "desc"],
    }
    type Decode = (raw: unknown) => Result.Result<object, ValidationError>
    const lists: ReadonlyArray<readonly [Decode, Readonly<Record<string, ReadonlyArray<string>>>]> = [
      [decode.incidents, incidents],
      [decode.outbox, outbox],
    ]
    for (const [parameters, allowed] of lists) {
      for (const [name, values] of Object.entries(allowed)) {
        for (const value of values) {
          assert.deepInclude(Result.getOrThrow(parameters({ [name]: value })), { [name]: value })
        }
        for (const value of ["", "ok", "OPEN", `${values[0]} `]) {
          assert.strictEqual(
            verdict(parameters({ [name]: value })),
            `${name} must be one of ${values.join(", ")}`,
          )
        }
      }
    }
  })

  it("check agent_id and check_id where there are such filters", () => {
    for (const parameters of [decode.checks, decode.history, decode.incidents]) {
      assert.strictEqual(Result.getOrThrow(parameters({ agent_id: "__proto__" })).agent_id, "__proto__")
      assert.strictEqual(verdict(parameters({ agent_id: "" })), `agent_id ${NAME_RULE}`)
      assert.strictEqual(verdict(parameters({ agent_id: "a b" })), `agent_id ${NAME_RULE}`)
    }
    for (const parameters of [decode.history, decode.incidents]) {
      assert.strictEqual(
        Result.getOrThrow(parameters({ check_id: "x".repeat(128) })).check_id,
        "x".repeat(128),
      )
      assert.strictEqual(verdict(parameters({ check_id: "x".repeat(129) })), `check_id ${NAME_RULE}`)
    }
    assert.strictEqual(verdict(decode.agents({ agent_id: "a b" })), "accepted")
  })

  it("take include_rotation as true or false", () => {
    assert.isTrue(Result.getOrThrow(decode.acceptAll({ include_rotation: "true" })).include_rotation)
    assert.strictEqual(
      verdict(decode.acceptAll({ include_rotation: "1" })),
      "include_rotation must be true or false",
    )
  })
})

describe("paths", () => {
  it("hold an agent_id of the common format", () => {
    assert.strictEqual(Result.getOrThrow(decode.agentPath({ agent_id: "web-01" })).agent_id, "web-01")
    assert.strictEqual(verdict(decode.agentPath({ agent_id: "x".repeat(129) })), `agent_id ${NAME_RULE}`)
    assert.strictEqual(verdict(decode.agentPath({ agent_id: "a/b" })), `agent_id ${NAME_RULE}`)
  })

  it("hold a key_id of exactly 64 characters, whatever they are", () => {
    for (const key_id of ["0af9".repeat(16), "x".repeat(64), "😀".repeat(64), "\n".repeat(64)]) {
      assert.strictEqual(Result.getOrThrow(decode.blacklistPath({ key_id })).key_id, key_id)
    }
    for (const key_id of ["", "a".repeat(63), "a".repeat(65), "😀".repeat(32), "😀".repeat(65)]) {
      assert.strictEqual(verdict(decode.blacklistPath({ key_id })), "key_id must be exactly 64 characters")
    }
  })
})
