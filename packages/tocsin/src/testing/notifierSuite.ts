import assert from "node:assert/strict"
import { testText } from "@tocsin/core/heart/notifications/incidentText"
import { aFunction, asGiven, group, type Readers, required } from "@tocsin/client/options/readers"
import { TocsinError } from "../TocsinError.ts"
import type { NotifierOption } from "../notifiers/notifiers.ts"
import { assertOne, CHECKS, SAME, TEST } from "./receivers/arrivals.ts"
import { type Answers, HttpReceiver, RECEIVERS_TEXT, SECRET_PATH } from "./receivers/HttpReceiver.ts"
import { bodyTrials, type HttpTrial, httpTrials } from "./receivers/httpTrials.ts"
import { mentions } from "./receivers/mentions.ts"
import { NotifierTrial } from "./receivers/NotifierTrial.ts"
import type { TestRunner } from "./TestRunner.ts"

/** A notifier as its suite needs it. */
export interface NotifierUnderTest {
  /** The name that the tests show. */
  readonly name: string
  /**
   * Makes the notifier: one that sends over HTTP to this address of a receiver on this machine, or below it. With
   * `received`, there is no address.
   */
  readonly make: (address: string) => NotifierOption
  /**
   * For a notifier that sends in another way, to a receiver that the test starts: the texts that arrived, oldest first.
   */
  readonly received?: () => Promise<ReadonlyArray<string>> | ReadonlyArray<string>
  /** Texts that the notifier knows, such as its token: none may be in errors, answers and logs. */
  readonly secrets?: ReadonlyArray<string>
  /**
   * For a receiver that states its outcome in the body of a 200: what it says there, a text, or an object that is
   * sent as JSON. `delivered` is the body of each 200, empty unless given; the others add a test each.
   */
  readonly answers?: Answers
}

const readers: Readers<NotifierUnderTest> = {
  name: asGiven(),
  make: required(
    (given) => typeof given === "function",
    "a function that returns the notifier, as in make: (address) => pager({ address })",
  ),
  received: aFunction(),
  secrets: asGiven(),
  answers: (name, given, complain) => {
    group<Answers>()({ delivered: asGiven(), deferred: asGiven(), refused: asGiven() })(name, given, complain)
  },
}

const TIMEOUT_MILLIS = 30_000

/**
 * Tests of a notifier, through the real outbox: over HTTP against a receiver on this machine, which answers
 * in all the ways that receivers do, or else against one of your own.
 *
 * @example
 * ```ts
 * import { describe, it } from "vitest"
 * import { notifierSuite } from "tocsin/testing"
 * import { pager } from "../pager.ts"
 *
 * notifierSuite({ describe, it }, { name: "pager", make: (address) => pager({ address }) })
 * ```
 */
export const notifierSuite = ({ describe, it }: TestRunner, subject: NotifierUnderTest): void => {
  const problems: Array<string> = []
  group<NotifierUnderTest>()(readers)("", subject, (problem) => void problems.push(problem))
  if (problems.length > 0) throw new TocsinError("options", problems.join("\n"))
  const { received } = subject
  const tests = received === undefined ? httpTests(subject) : otherTests(subject, received)
  describe(`notifier: ${subject.name}`, () => {
    for (const [name, body] of Object.entries(tests)) it(name, body, TIMEOUT_MILLIS)
  })
}

type Tests = Readonly<Record<string, () => Promise<void>>>

const otherTests = (
  { name, make, secrets }: NotifierUnderTest,
  received: NonNullable<NotifierUnderTest["received"]>,
): Tests => {
  const subject = { name, make: () => make(""), secrets }
  const arrived = async () => (await received()).map((text) => ({ text, isTaken: true }))
  return {
    "sends an incident, then its resolution": () =>
      NotifierTrial.run(subject, async (trial) => {
        await trial.report("critical")
        await trial.assertStates(["firing sent 1"])
        assertOne(await arrived(), trial.words("firing"))
        await trial.report("ok")
        await trial.assertStates(["firing sent 1", "resolved sent 1"])
        const [firing, resolved] = (await arrived()).slice(-2)
        assertOne(resolved === undefined ? [] : [resolved], trial.words("resolved"))
        assert.notEqual(resolved?.text, firing?.text, SAME)
      }),
    "sends several incidents at once": () =>
      NotifierTrial.run(subject, async (trial) => {
        await trial.report("critical", ...CHECKS)
        await trial.assertStates(CHECKS.map(() => "firing sent 1"))
        const texts = (await arrived()).slice(-CHECKS.length)
        for (const check of CHECKS) assertOne(texts, trial.words("firing", check))
      }),
    "sends a test": () =>
      NotifierTrial.run(subject, async (trial) => {
        const before = (await arrived()).length
        assert.equal((await trial.test()).outcome, "delivered", `${TEST}${trial.warnings()}`)
        assert.ok(
          (await arrived()).slice(before).some(({ text }) => mentions(text, [testText()])),
          TEST,
        )
      }),
  }
}

const httpTests = ({ name, make, secrets, answers = {} }: NotifierUnderTest): Tests => {
  const run = async (body: (tried: HttpTrial) => Promise<void>): Promise<void> => {
    const receiver = new HttpReceiver(answers.delivered)
    await receiver.start()
    let isOwn = false
    const subject = {
      name,
      secrets,
      hidden: [SECRET_PATH, RECEIVERS_TEXT],
      make: () => {
        const notifier = make(receiver.address)
        isOwn = "send" in notifier
        return notifier
      },
    }
    try {
      await NotifierTrial.run(subject, (trial) => body({ trial, receiver, isOwn }))
    } finally {
      await receiver.stop()
    }
  }
  const trials = { ...httpTrials, ...bodyTrials(answers) }
  return Object.fromEntries(Object.entries(trials).map(([title, body]) => [title, () => run(body)]))
}
