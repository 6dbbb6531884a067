import { assert, describe, it } from "@effect/vitest"
import type { OutgoingResult, ResultQueue } from "../../src/agent/ResultQueue.ts"
import { Sender, type Statements } from "../../src/agent/Sender.ts"
import type { HttpAnswer, OutgoingRequest } from "../../src/agent/Answer.ts"

const ACCEPTED: HttpAnswer = { status: 202, body: '{"accepted":true}' }
const PENDING: HttpAnswer = { status: 202, body: '{"accepted":false}' }
const DECLARED: HttpAnswer = { status: 200, body: '{"expected":1,"withdrawn":0}' }
const CONFLICT: HttpAnswer = { status: 409, body: '{"error":{"code":"conflict"}}' }
const NOT_ACCEPTED: HttpAnswer = { status: 403, body: '{"error":{"code":"agent_not_accepted"}}' }
const BLOCKED: HttpAnswer = { status: 403, body: '{"error":{"code":"agent_blocked"}}' }

const declaring = (...checks: ReadonlyArray<string>): Statements => ({
  agentId: "a",
  servers: ["http://server"],
  heartbeat: { hostname: "a", features: { push: true, metrics: false } },
  expected: checks.map((check_id) => ({ check_id, every: "1m" })),
})

/** A queue whose file cannot be read: it holds results, and gives none. */
const unreadable: ResultQueue = {
  size: () => 3,
  hasChange: () => true,
  take: () => [],
  acknowledge: () => {},
  reject: () => {},
  putBack: () => {},
  setNote: () => {},
}

const empty: ResultQueue = { ...unreadable, size: () => 0, hasChange: () => false }

/** A sender whose server gives the answers of a table, and whose time passes by its own waits. */
const sending = (
  queue: ResultQueue<OutgoingResult> = empty,
  next: () => string | undefined = () => undefined,
) => {
  let now = 0
  const logged: Array<string> = []
  const requests: Array<OutgoingRequest & { readonly at: number }> = []
  const notes = new Map<string, string>()
  type Answers = HttpAnswer | ((body: string) => HttpAnswer)
  const answers: Record<OutgoingRequest["kind"], Answers> = {
    heartbeat: ACCEPTED,
    declaration: DECLARED,
    enrolment: ACCEPTED,
    events: { status: 202, body: '{"accepted":0}' },
  }
  /** The answer to heartbeats with the replacement key, and the sender's deed. */
  const replacement: { answer: HttpAnswer; deed?: "promoted" | "discarded"; fault?: Error } = {
    answer: PENDING,
  }
  const during: { declaration?: () => void } = {}
  const clock = { wall: () => now, steady: () => now, sinceBoot: () => now }
  const sender = new Sender(
    {
      queue: { ...queue, setNote: (name, value) => void notes.set(name, value) },
      clock,
      boot: "boot",
      random: () => 0.5,
      log: (message) => logged.push(message),
      keys: {
        current: () => (replacement.deed === "promoted" ? "next" : "key"),
        next: () => (replacement.deed === undefined ? next() : undefined),
        promote: () => {
          if (replacement.fault !== undefined) throw replacement.fault
          replacement.deed = "promoted"
        },
        discard: () => (replacement.deed = "discarded"),
        fingerprintOf: (key) => `print of ${key}`,
      },
      transport: {
        send: async (request) => {
          requests.push({ ...request, at: now })
          const isNext = request.key === "next" && replacement.deed !== "promoted"
          const usual = answers[request.kind]
          const made = typeof usual === "function" ? usual(request.body) : usual
          const answer = isNext ? replacement.answer : made
          if (request.kind === "declaration") during.declaration?.()
          await Promise.resolve()
          return answer
        },
      },
    },
    declaring("disk"),
  )
  return {
    answers,
    during,
    replacement,
    logged,
    notes,
    sender,
    requests,
    declarations: () =>
      requests
        .filter(({ kind }) => kind === "declaration")
        .map(({ body }) => {
          const { checks } = JSON.parse(body) as { readonly checks: ReadonlyArray<{ check_id: string }> }
          return checks.map(({ check_id }) => check_id).join(" ")
        }),
    /** Lets the sender work for so long. */
    pass: async (millis: number) => {
      const end = now + millis
      for (let next = now; next <= end;) {
        now = next
        next = Math.max(await sender.step(), now)
      }
      now = end
    },
  }
}

describe("a sender", () => {
  it("declares the schedule once, and again once its key is accepted again", async () => {
    const { answers, declarations, pass } = sending()
    await pass(180_000)
    assert.deepStrictEqual(declarations(), ["disk"])
    // An operator deleted the agent, and its schedule with it.
    answers.heartbeat = PENDING
    await pass(120_000)
    answers.heartbeat = ACCEPTED
    await pass(120_000)
    assert.lengthOf(declarations(), 2)
  })

  it("declares again what a server did not take because of the key", async () => {
    const { answers, declarations, pass } = sending()
    answers.declaration = BLOCKED
    await pass(60_000)
    answers.declaration = DECLARED
    await pass(1_200_000)
    assert.lengthOf(declarations(), 2)
  })

  it("declares again each hour, because a restored or upgraded server may not know the schedule", async () => {
    const { pass, requests } = sending()
    await pass(3 * 3_600_000 - 1)
    const times = requests.filter(({ kind }) => kind === "declaration").map(({ at }) => at)
    assert.deepStrictEqual(times, [0, 3_600_000, 7_200_000])
  })

  it("declares again after a minute where the server keeps labels that changed a moment ago", async () => {
    const { answers, pass, requests } = sending()
    answers.declaration = { status: 200, body: '{"expected":1,"withdrawn":0,"labels_kept":1}' }
    await pass(59_999)
    answers.declaration = DECLARED
    await pass(3_600_000)
    const times = requests.filter(({ kind }) => kind === "declaration").map(({ at }) => at)
    assert.deepStrictEqual(times, [0, 60_000])
  })

  it.each([
    [404, "<p>page not found</p>"],
    [200, "<p>Sign in</p>"],
    [405, ""],
  ])(
    "declares again what a gateway answered with %s, and sends heartbeats meanwhile",
    async (status, body) => {
      const { answers, declarations, logged, pass, requests } = sending()
      answers.declaration = { status, body }
      await pass(630_000)
      const heartbeats = requests.filter(({ kind }) => kind === "heartbeat").map(({ at }) => at)
      assert.deepStrictEqual(
        heartbeats.map((at) => Math.floor(at / 60_000)),
        Array.from({ length: 11 }, (_, minute) => minute),
      )
      const waits = `the schedule of the checks waits: ${`${status} ${body}`.trim()}`
      assert.deepStrictEqual(logged, ["the server accepts what is sent", waits])
      answers.declaration = DECLARED
      const before = declarations().length
      await pass(630_000)
      assert.lengthOf(declarations(), before + 1)
    },
  )

  it("says that the path of the address is wrong where the server has no place for heartbeats", async () => {
    const { answers, logged, pass } = sending()
    answers.heartbeat = { status: 404, body: '{"error":{"code":"not_found","message":"no such path"}}' }
    await pass(60_000)
    assert.deepStrictEqual(logged, [
      "results wait: the path in the address of the server is wrong: 404 no such path",
    ])
  })

  it("declares what changed while a declaration was under way", async () => {
    const { declarations, during, pass, sender } = sending()
    during.declaration = () => {
      delete during.declaration
      sender.restate(declaring("disk", "load"))
    }
    await pass(60_000)
    assert.deepStrictEqual(declarations(), ["disk", "disk load"])
  })

  it("declares the others where the server refuses checks by name, says which, and tries all each hour", async () => {
    const { answers, declarations, logged, notes, pass, sender } = sending()
    sender.restate(declaring("disk", "cron", "load", "short"))
    const invalid = (message: string): HttpAnswer => ({
      status: 400,
      body: JSON.stringify({ error: { code: "validation", message } }),
    })
    answers.declaration = (body) => {
      if (body.includes('"cron"')) return invalid("checks[1].cron never fires: no date matches it")
      if (body.includes('"short"')) return invalid("checks[2].after must be at least 150s")
      return DECLARED
    }
    await pass(1_800_000)
    assert.deepStrictEqual(declarations(), ["disk cron load short", "disk load short", "disk load"])
    const refused = [
      "cron: 400 cron never fires: no date matches it",
      "cron: 400 cron never fires: no date matches it; short: 400 after must be at least 150s",
    ]
    assert.deepStrictEqual(logged, [
      "the server accepts what is sent",
      ...refused.map((words) => `the server refuses the schedule of the checks: ${words}`),
    ])
    assert.strictEqual(notes.get("declaration_refused"), refused[1])
    // An upgraded server takes them.
    answers.declaration = DECLARED
    await pass(3_600_000)
    assert.deepStrictEqual(declarations().slice(3), ["disk cron load short"])
    assert.strictEqual(notes.get("declaration_refused"), "")
  })

  it("declares all checks without their incident where an older server refuses it, and says nothing of it", async () => {
    const { answers, declarations, logged, notes, pass, requests, sender } = sending()
    const job = { check_id: "job", every: "1h", incident: "own" as const }
    sender.restate({ ...declaring(), expected: [{ check_id: "disk", every: "1m" }, job] })
    const error = { code: "validation", message: "checks[1].incident is not a known field" }
    answers.declaration = (body) =>
      body.includes("incident") ? { status: 400, body: JSON.stringify({ error }) } : DECLARED
    await pass(1_800_000)
    assert.deepStrictEqual(declarations(), ["disk job", "disk job"])
    assert.deepStrictEqual(logged, ["the server accepts what is sent"])
    assert.strictEqual(notes.get("declaration_refused"), "")
    // An upgraded server takes it.
    answers.declaration = DECLARED
    await pass(3_600_000)
    assert.include(requests.findLast(({ kind }) => kind === "declaration")?.body, '"incident":"own"')
  })

  it("leaves checks out of a schedule only so often, where the server refuses each", async () => {
    const { answers, declarations, pass, sender } = sending()
    sender.restate(declaring(...Array.from({ length: 60 }, (_, n) => `check-${n}`)))
    const error = {
      code: "validation",
      message:
        "checks[0].tz must be an IANA time zone, such as Europe/Berlin, and no abbreviation such as BST",
    }
    answers.declaration = { status: 400, body: JSON.stringify({ error }) }
    await pass(3_000_000)
    assert.lengthOf(declarations(), 20)
  })

  it("sends heartbeats and declarations while the results that wait cannot be read", async () => {
    const { declarations, pass, requests } = sending(unreadable)
    await pass(600_000)
    const heartbeats = requests.filter(({ kind }) => kind === "heartbeat").map(({ at }) => at)
    assert.deepStrictEqual(
      heartbeats,
      Array.from({ length: 11 }, (_, minute) => minute * 60_000),
    )
    assert.lengthOf(declarations(), 1)
  })
  it("uses the former key while the next one cannot be read, and says so once", async () => {
    const { logged, pass, requests } = sending(empty, () => {
      throw new Error("EACCES: permission denied, open 'key.next'")
    })
    await pass(180_000)
    assert.deepStrictEqual(
      requests.filter(({ kind }) => kind === "heartbeat").map(({ at, key }) => [at, key]),
      [0, 1, 2, 3].map((minute) => [minute * 60_000, "key"]),
    )
    assert.deepStrictEqual(
      logged.filter((message) => message.includes("key.next")),
      ["the former key stays in use: EACCES: permission denied, open 'key.next'"],
    )
  })

  const rotating = () => sending(empty, () => "next")
  const keysOf = (requests: ReadonlyArray<OutgoingRequest>) =>
    requests.filter(({ kind }) => kind === "heartbeat").map(({ key }) => key)

  it("asks with the former key first, and takes the replacement that the server accepted", async () => {
    for (const former of [ACCEPTED, CONFLICT, BLOCKED]) {
      const { answers, pass, replacement, requests } = rotating()
      await pass(0)
      assert.deepStrictEqual(keysOf(requests), ["key", "next"])
      // Accepting swaps them; and a blocked key may be replaced.
      answers.heartbeat = former
      replacement.answer = ACCEPTED
      await pass(59_000)
      assert.isUndefined(replacement.deed)
      await pass(1_000)
      assert.strictEqual(replacement.deed, "promoted")
    }
  })

  it("asks for no decision on the former key once the server has accepted the replacement", async () => {
    const result = { id: "1", checkId: "disk", body: "{}" }
    const waiting = { ...empty, size: () => 1, hasChange: () => true, take: () => [result] }
    const { answers, logged, pass, replacement, requests } = sending(waiting, () => "next")
    await pass(0)
    assert.include(
      requests.map(({ kind }) => kind),
      "events",
    )
    answers.events = NOT_ACCEPTED
    answers.heartbeat = CONFLICT
    replacement.answer = ACCEPTED
    await pass(60_000)
    assert.strictEqual(replacement.deed, "promoted")
    assert.notInclude(logged.join(), "print of key")
  })

  it("registers the key whose fingerprint it names where an operator deleted the agent", async () => {
    const { answers, logged, pass, requests } = rotating()
    answers.heartbeat = PENDING
    await pass(300_000)
    assert.deepStrictEqual([...new Set(keysOf(requests))], ["key"])
    assert.match(logged.join(), /compare the fingerprint print of key and accept it$/)
  })

  it("discards a replacement that an operator blocked, and says so", async () => {
    const { logged, pass, replacement, requests } = rotating()
    replacement.answer = BLOCKED
    await pass(300_000)
    assert.strictEqual(replacement.deed, "discarded")
    assert.lengthOf(
      keysOf(requests).filter((key) => key === "next"),
      1,
    )
    assert.deepStrictEqual(
      logged.filter((message) => message.includes("former key")),
      [
        'the former key stays in use: the server refuses the new key print of next: 403 {"error":{"code":"agent_blocked"}}',
      ],
    )
  })

  it("goes on with a replacement that the server accepted and the disk refuses, says so once, and tries again", async () => {
    const { answers, logged, pass, replacement, requests, sender } = rotating()
    answers.heartbeat = CONFLICT
    replacement.answer = ACCEPTED
    replacement.fault = new Error("the key files cannot be changed")
    await pass(150_000)
    assert.deepStrictEqual(keysOf(requests), ["key", "next", "key", "next", "key", "next"])
    assert.deepStrictEqual(
      logged.filter((message) => message.includes("in use")),
      ["the new key is in use: the key files cannot be changed"],
    )
    assert.strictEqual(sender.admission, "accepted")
    delete replacement.fault
    await pass(60_000)
    assert.strictEqual(replacement.deed, "promoted")
  })

  it("says once that the server refuses a replacement", async () => {
    const { logged, pass, replacement } = rotating()
    replacement.answer = CONFLICT
    await pass(300_000)
    assert.lengthOf(
      logged.filter((message) => message.includes("the former key stays in use")),
      1,
    )
    assert.isUndefined(replacement.deed)
  })

  it("knows what an answer says of its key, also where its configuration was read again meanwhile", async () => {
    const { answers, sender } = sending()
    answers.heartbeat = () => {
      sender.restate(declaring("disk"))
      return BLOCKED
    }
    await sender.step()
    assert.strictEqual(sender.admission, "blocked")
  })
})
