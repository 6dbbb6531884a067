import { createServer, type Server, type ServerResponse } from "node:http"
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import { WatchdogReceiver } from "@tocsin/core/heart/notifications/Notifiers"
import { watchdogReceiver } from "@tocsin/server/notifiers"
import { loadPolicy } from "@tocsin/server/policy/loadPolicy"
import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import type { Settings } from "@tocsin/server/settings/Settings"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { firing } from "../../../adapter-notify/test/notifications.ts"

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok").toString("base64")}`

let folder: string
let server: Server
/** A name, so that its address is looked up when something is sent. */
let origin: string
let bodies: Array<string> = []
/** Runs for each request; answers it unless the receiver hangs. */
let answer = (response: ServerResponse): void => void response.end("ok")

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tocsin-consumers-"))
  server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += String(chunk)))
    request.on("end", () => {
      bodies.push(body)
      answer(response)
    })
  })
  await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
  // A server that listens on TCP has such an address.
  origin = `http://localhost:${(server.address() as AddressInfo).port}`
  for (const [name, text] of [
    ["url", origin],
    ["secret", SECRET],
  ] as const)
    writeFileSync(join(folder, name), text)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

const settingsOf = (environment: Readonly<Record<string, string>>): Settings =>
  Result.getOrThrow(checkedSettings(environment))

/** Sends a notification to the only receiver of these settings. */
const sendToReceiver = (settings: Settings) =>
  Effect.gen(function* () {
    const { receivers } = yield* loadPolicy(settings)
    const [receiver] = receivers.values()
    assert.isDefined(receiver)
    return { result: yield* receiver.send(firing) }
  }).pipe(Effect.provide(RandomIds.layer), Effect.scoped)

const sendBeat = (settings: Settings) =>
  Effect.flatMap(WatchdogReceiver, (receiver) => receiver.send({ isWell: true })).pipe(
    Effect.provide(Layer.fresh(watchdogReceiver(settings) ?? assert.fail("no watchdog ping"))),
  )

const ofSettings = (environment: () => Readonly<Record<string, string>>) => ({
  environment,
  send: sendToReceiver,
})
const ofPolicy = (receiver: object) =>
  ofSettings(() => {
    const file = join(folder, "policy.yaml")
    writeFileSync(
      file,
      JSON.stringify({
        receivers: {
          only: {
            url_file: join(folder, "url"),
            ...receiver,
            ...("kind" in receiver && receiver.kind === "webhook" && { secret_file: join(folder, "secret") }),
          },
        },
      }),
    )
    return { SERVICE_POLICY_FILE: file }
  })

/** Everything that sends to an address of the settings, or of a policy. */
const consumers = {
  "the webhook of the settings": ofSettings(() => ({
    SERVICE_NOTIFIERS: "webhook",
    SERVICE_WEBHOOK_URL: origin,
    SERVICE_WEBHOOK_SECRET: SECRET,
  })),
  "the messenger of the settings": ofSettings(() => ({
    SERVICE_NOTIFIERS: "messenger",
    SERVICE_MESSENGER_URL: origin,
  })),
  "the alert router of the settings": ofSettings(() => ({
    SERVICE_NOTIFIERS: "alert_router",
    SERVICE_ALERT_ROUTER_URL: origin,
  })),
  "a webhook of a policy": ofPolicy({ kind: "webhook" }),
  "a messenger of a policy": ofPolicy({ kind: "messenger" }),
  "an alert router of a policy": ofPolicy({ kind: "alert_router" }),
  "the watchdog ping": { environment: () => ({ SERVICE_WATCHDOG_URL: origin }), send: sendBeat },
}
type Consumer = keyof typeof consumers

const NAMES = Object.keys(consumers) as ReadonlyArray<Consumer>

interface Case {
  /** The setting's value. */
  readonly value: string
  readonly consumers: ReadonlyArray<Consumer>
  /** Asserts that a consumer follows the setting. */
  readonly follows: (name: Consumer, settings: Settings) => Effect.Effect<void, unknown>
}

/** Every setting of what is sent, with all that must follow it. */
const cases: Readonly<Partial<Record<keyof Settings, Case>>> = {
  SERVICE_DENY_PRIVATE_TARGETS: {
    value: "true",
    consumers: NAMES,
    follows: (name, settings) =>
      Effect.gen(function* () {
        const { result } = yield* consumers[name].send(settings)
        assert.notStrictEqual(result.outcome, "delivered")
        assert.deepStrictEqual(bodies, [])
      }),
  },
  SERVICE_DELIVERY_LEASE: {
    value: "3s",
    consumers: NAMES.filter((name) => name !== "the watchdog ping"),
    follows: (name, settings) =>
      Effect.gen(function* () {
        const arrived = new Promise<void>((resume) => {
          answer = () => resume()
        })
        const sending = yield* Effect.forkChild(consumers[name].send(settings))
        yield* Effect.promise(() => arrived)
        yield* TestClock.adjust("2 seconds")
        const { result } = yield* Fiber.join(sending)
        assert.strictEqual(result.outcome, "deferred")
      }),
  },
}

const MAIL = { from: "tocsin@example.org", to: "ops@example.org" }

/** Mails of each kind of receiver to a server, which may greet late. */
const mailEnvironments = {
  "the mails of the settings": (url: string): Readonly<Record<string, string>> => ({
    SERVICE_NOTIFIERS: "email",
    SERVICE_SMTP_URL: url,
    SERVICE_EMAIL_FROM: MAIL.from,
    SERVICE_EMAIL_TO: MAIL.to,
  }),
  "the mails of a policy": (url: string): Readonly<Record<string, string>> => {
    const url_file = join(folder, "mail-url")
    writeFileSync(url_file, url)
    const { from, to } = MAIL
    return ofPolicy({ kind: "messenger", type: "email", url_file, from, to: [to] }).environment()
  },
}

describe("a setting is followed by each of its consumers", () => {
  it.effect.each(Object.keys(mailEnvironments) as ReadonlyArray<keyof typeof mailEnvironments>)(
    "SERVICE_DELIVERY_LEASE: %s have three quarters of it",
    (name) =>
      Effect.gen(function* () {
        const silent = createTcpServer()
        yield* Effect.promise(() => new Promise<void>((resume) => silent.listen(0, "127.0.0.1", resume)))
        yield* Effect.addFinalizer(() => Effect.sync(() => silent.close()))
        const greeted = new Promise<Socket>((resume) => silent.once("connection", resume))
        // It listens on TCP.
        const address = `smtp://localhost:${(silent.address() as AddressInfo).port}`
        const environment = mailEnvironments[name](address)
        const sending = yield* Effect.forkChild(
          sendToReceiver(settingsOf({ ...environment, SERVICE_DELIVERY_LEASE: "40s" })),
        )
        const socket = yield* Effect.promise(() => greeted)
        yield* TestClock.adjust("29 seconds")
        assert.isUndefined(sending.pollUnsafe())
        yield* TestClock.adjust("1 second")
        const { result } = yield* Fiber.join(sending)
        assert.strictEqual(result.outcome, "deferred")
        socket.destroy()
      }),
  )

  for (const name of NAMES)
    it.effect(`${name} sends without it`, () =>
      Effect.gen(function* () {
        bodies = []
        answer = (response) => void response.end("ok")
        const { result } = yield* consumers[name].send(settingsOf(consumers[name].environment()))
        assert.strictEqual(result.outcome, "delivered")
        assert.strictEqual(bodies.length, 1)
      }),
    )
  for (const [setting, { consumers: names, follows, value }] of Object.entries(cases))
    it.effect.each(names)(`${setting}: %s`, (name) =>
      Effect.suspend(() => {
        bodies = []
        answer = (response) => void response.end("ok")
        return follows(name, settingsOf({ ...consumers[name].environment(), [setting]: value }))
      }),
    )
})
