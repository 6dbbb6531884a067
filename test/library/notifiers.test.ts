import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { alertRouter, type CustomNotifier, type Notification, slack, telegram, webhook } from "tocsin"
import { notifierSuite, type NotifierUnderTest } from "tocsin/testing"
import { AT_LENGTH } from "../properties/atLength.ts"
import { turns } from "./requests.ts"
import { chat } from "./notifiers/chat.ts"
import { FAULTY, GOOD, TOKEN } from "./notifiers/faultyNotifiers.ts"
import { failureOf, testsOf } from "./suiteTests.ts"

const runner = { describe, it }

notifierSuite(runner, { name: "slack", make: (address) => slack({ url: address }) })
notifierSuite(runner, { name: "alertRouter", make: (address) => alertRouter({ url: address }) })
// As slack is: a chat, whose kind packages/adapter-notify tests.
if (AT_LENGTH)
  notifierSuite(runner, {
    name: "telegram",
    make: (address) => telegram({ token: "123:abc", chat: "1", apiUrl: address }),
  })
notifierSuite(runner, {
  name: "webhook under another name",
  make: (address) =>
    webhook({ name: "billing", url: address, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }),
})

for (const [name, make] of Object.entries(GOOD))
  if (AT_LENGTH || name === "text") notifierSuite(runner, { name, make, secrets: [TOKEN] })

const answers = {
  delivered: { ok: true },
  deferred: { ok: false, error: "later" },
  refused: { ok: false, error: "room" },
}
notifierSuite(runner, { name: "chat that answers in its body", make: chat, answers })

const testsOn = (subject: NotifierUnderTest) => testsOf((own) => notifierSuite(own, subject))

const servers = () => process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length

describe("the suite of notifiers", () => {
  it.each(Object.entries(FAULTY))("sees one that %s", async (name, [test, make]) => {
    // The receiver of the test before may still be closing.
    await turns(2)
    const before = servers()
    assert.instanceOf(await failureOf(testsOn({ name, make, secrets: [TOKEN] }), test), Error)
    await turns(2)
    // A server that listens keeps the process of node:test for ever.
    assert.strictEqual(servers(), before)
  })
})

describe("the suite of notifiers, on answers with a body,", () => {
  it("shows the cause of a failed attempt, without secrets", async () => {
    const error = await failureOf(
      testsOn({ name: "chat", make: chat, secrets: ["Unexpected"] }),
      "sends an incident",
    )
    assert.match(
      String(error),
      /the outbox has "firing retry 1", and not "firing sent 1"\nlast_error: The notifier chat failed; the log has the cause\.\nthe log: the notifier chat failed\nSyntaxError: \*\*\* end of JSON/,
    )
  })

  it.each([
    ["retries after a 200", { ...answers, deferred: answers.refused }],
    ["stops after a 200", { ...answers, refused: answers.deferred }],
  ])("sees a wrong outcome: %s", async (test, given) => {
    assert.instanceOf(await failureOf(testsOn({ name: "chat", make: chat, answers: given }), test), Error)
  })

  it.each([
    [
      { make: {} },
      "make must be a function that returns the notifier, as in make: (address) => pager({ address })",
    ],
    [{ answer: {} }, "answer is not an option; did you mean answers?"],
    [{ answers: { refuse: "no" } }, "answers.refuse is not an option; did you mean refused?"],
  ])("refuses %j", (given, problem) => {
    // Plain JavaScript can give anything.
    assert.throws(() => testsOn({ name: "chat", make: chat, ...(given as object) }), problem)
  })
})

/** A queue in memory, which takes texts of notifications. */
const queueOf = (send: (queue: Array<string>, notification: Notification) => void, test = true) => {
  const queue: Array<string> = []
  const make = (): CustomNotifier => ({
    name: "queue",
    send: (notification) => send(queue, notification),
    ...(test && { test: ({ text }) => void queue.push(text) }),
  })
  return { name: "queue", make, received: () => queue }
}

const push = (queue: Array<string>, { text }: Notification): void => void queue.push(text)
notifierSuite(runner, queueOf(push))

const known = new Set<string>()
const pushOnce = (queue: Array<string>, sent: Notification): void => {
  if (!known.has(sent.id)) push(queue, sent)
  known.add(sent.id)
}
notifierSuite(runner, { ...queueOf(pushOnce), name: "queue that drops repeated ids" })

describe("the suite of notifiers without HTTP", () => {
  it.each([
    ["sends nothing", "sends an incident", queueOf(() => {})],
    [
      "sends no resolution",
      "sends an incident",
      queueOf((queue, sent) => sent.event_type === "firing" && push(queue, sent)),
    ],
    [
      "sends a resolution like its firing",
      "sends an incident",
      queueOf((queue, { incident }) => void queue.push(incident.incident_key)),
    ],
    ["sends twice", "sends an incident", queueOf((queue, sent) => [1, 2].forEach(() => push(queue, sent)))],
    [
      "drops all but the first",
      "sends several",
      queueOf((queue, sent) => queue.length === 0 && push(queue, sent)),
    ],
    ["has no test", "sends a test", queueOf(push, false)],
  ])("sees one that %s", async (_, test, subject) => {
    assert.instanceOf(await failureOf(testsOn(subject), test), Error)
  })
})
