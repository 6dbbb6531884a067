import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import type { SecretValues } from "@tocsin/contract/receivers/ReceiverSecrets"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { Duration, Effect, Redacted, Result } from "effect"
import { policyReceivers } from "../src/policyReceivers.ts"
import { testIds } from "./testIds.ts"

const posting = { denyPrivateTargets: false, timeout: Duration.seconds(2), mailTimeout: Duration.seconds(2) }
const CHAT = NotifierName.make("chat")

const made = Effect.fnUntraced(function* (
  receiver: Receiver,
  secrets: Readonly<Record<string, string>> | string,
  mayReachLoopback = false,
) {
  const values: SecretValues =
    typeof secrets === "string"
      ? {}
      : Object.fromEntries(Object.entries(secrets).map(([key, text]) => [key, Redacted.make(text)]))
  const stored = new Map([
    [CHAT, typeof secrets === "string" ? Result.fail(secrets) : Result.succeed(values)],
  ])
  const receivers = yield* Effect.provide(
    policyReceivers({ a: receiver }, posting, { stored, mayReachLoopback }),
    testIds,
  )
  const [problem] = receivers.problems
  return {
    notifier: receivers.made.get("a"),
    problem: problem && `${fieldPath(problem.path)} ${problem.message}`,
  }
})

const slack: Receiver = { kind: "messenger", secrets: CHAT }
const gotify: Receiver = { kind: "messenger", type: "gotify", secrets: CHAT }

const BODY = "a byte of the answer"

const anyServer = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer((_request, response) => {
      response.writeHead(418, { "x-body": BODY }).end(BODY)
    }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close()),
)

describe("the stored secrets of a receiver", () => {
  it.live("are all that it needs, or it says what it lacks", () =>
    Effect.gen(function* () {
      const both = { url: " https://gotify.example/ \n", token: "a" }
      assert.isDefined((yield* made(gotify, both)).notifier)
      const place = "receivers.a.secrets names"
      const lacking = "store all secrets of the receiver together"
      for (const [secrets, problem] of [
        ["names chat, which is not stored", `${place} chat, which is not stored`],
        [{ ...both, token: " " }, `${place} chat, which lacks token: ${lacking}`],
        [{ key: "a" }, `${place} chat, which lacks url and token: ${lacking}`],
        [
          { url: "gotify.example", token: "a" },
          `${place} secrets of which url must be a URL that begins with http:// or https://`,
        ],
        [
          { ...both, token: "a b" },
          `${place} secrets of which token must be visible ASCII characters, without spaces`,
        ],
      ] as const)
        assert.strictEqual((yield* made(gotify, secrets)).problem, problem)
      const telegram: Receiver = { kind: "messenger", telegram_chat: "@ops", secrets: CHAT }
      assert.isDefined((yield* made(telegram, { telegram_token: "1:a" })).notifier)
      assert.isDefined((yield* made(telegram, { url: "https://chat.example/" })).problem)
      const { problems } = yield* Effect.provide(policyReceivers({ a: slack }, posting), testIds)
      assert.include(problems[0]?.message, "which only a stored policy may name")
    }),
  )

  it.live("lead to loopback only where that is allowed", () =>
    Effect.gen(function* () {
      const server = yield* anyServer
      // The server listens on a port.
      const { port } = server.address() as AddressInfo
      for (const host of ["127.0.0.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"]) {
        const { problem } = yield* made(slack, { url: `http://${host}:${port}/` })
        assert.include(problem, "url leads to the server's own machine: start the server with", host)
      }
      const url = `http://localhost:${port}/`
      const refused = yield* (yield* made(slack, { url })).notifier?.test ?? assert.fail("no notifier")
      assert.isUndefined(refused.status)
      assert.strictEqual(refused.result.outcome, "refused")
      const answered = yield* (yield* made(slack, { url }, true)).notifier?.test ?? assert.fail("no notifier")
      assert.strictEqual(answered.status, 418)
      assert.notInclude(JSON.stringify(answered), BODY)
      const mail: Receiver = {
        kind: "messenger",
        type: "email",
        from: "a@b.example",
        to: ["c@d.example"],
        secrets: CHAT,
      }
      assert.isDefined((yield* made(mail, { url: "smtp://127.0.0.1" })).problem)
      assert.isDefined((yield* made(mail, { url: "smtp://mail.example" })).notifier)
    }),
  )
})
