import assert from "node:assert/strict"
import { testText } from "@tocsin/core/heart/notifications/incidentText"
import { assertOne, CHECKS, SAME, TEST } from "./arrivals.ts"
import { type Answers, type HttpReceiver, type Received, RECEIVERS_TEXT } from "./HttpReceiver.ts"
import { mentions } from "./mentions.ts"
import type { NotifierTrial } from "./NotifierTrial.ts"

const textOf = ({ url, headers, body }: Received): string => `${url}\n${headers}\n${body}`

/** Times of the monitor, whose clock stands at the beginning of this day; a request may state the present. */
const TIMES = /2026-01-01T[\d:.]+Z/g
const withoutTimes = (text: string): string => text.replaceAll(TIMES, "a time")

/** A trial, and the receiver on this machine. */
export interface HttpTrial {
  readonly trial: NotifierTrial
  readonly receiver: HttpReceiver
  readonly isOwn: boolean
}

const requestsAt = ({ requests }: HttpReceiver) =>
  requests.map((request) => ({ text: textOf(request), isTaken: request.isTaken }))

/** Fails if the attempts of one notification differ, and have no id by which the receiver could know it. */
const assertSameAttempts = (requests: ReadonlyArray<Received>, id: string): void => {
  const texts = requests.map(textOf)
  const differing = new Set(texts.map(withoutTimes)).size > 1
  assert.ok(
    !differing || texts.every((text) => mentions(text, [id])),
    `attempts of one notification differ without its id, so that a receiver takes them for several: ${texts.join("\n\n")}`,
  )
}

/** Redirects, as a login page or a server that moved answers. */
const REDIRECTS = [300, 301, 302, 303, 307, 308]
const ELSEWHERE = `login-${RECEIVERS_TEXT}`

export const httpTrials: Readonly<Record<string, (tried: HttpTrial) => Promise<void>>> = {
  "sends an incident, then its resolution": async ({ receiver, trial, isOwn }) => {
    await trial.report("critical")
    await trial.assertStates(["firing sent 1"])
    assertOne(requestsAt(receiver), trial.words("firing"))
    const [firing = assert.fail("nothing arrived")] = receiver.requests.splice(0)
    await trial.report("ok")
    await trial.assertStates(["firing sent 1", "resolved sent 1"])
    assertOne(requestsAt(receiver), trial.words("resolved"), !isOwn)
    const ids = (await trial.items()).map(({ id }) => id)
    const withoutIds = ({ url, body }: Received) =>
      ids.reduce((text, id) => text.replaceAll(id, "an id"), `${url}\n${body}`)
    assert.ok(
      receiver.requests.every((request) => withoutIds(request) !== withoutIds(firing)),
      SAME,
    )
  },

  "sends several incidents at once": async ({ receiver, trial }) => {
    await trial.report("critical", ...CHECKS)
    await trial.assertStates(CHECKS.map(() => "firing sent 1"))
    for (const check of CHECKS) assertOne(requestsAt(receiver), trial.words("firing", check))
  },

  "retries after a failure, and sends the resolution only after the firing": async ({ receiver, trial }) => {
    receiver.manner = { status: 503 }
    await trial.report("critical")
    await trial.assertStates(["firing retry 1"])
    await trial.report("ok")
    // It makes the retry of its firing due.
    await trial.assertStates(["firing retry 2", "resolved pending 0"])
    receiver.manner = { status: 200 }
    await trial.monitor.advance("1m")
    await trial.assertStates(["firing sent 3", "resolved sent 1"])
  },

  "sends the same at each attempt, also at a third one": async ({ receiver, trial }) => {
    receiver.manner = { status: 503 }
    await trial.report("critical")
    await trial.monitor.advance("6s")
    await trial.assertStates(["firing retry 2"])
    receiver.manner = { status: 200 }
    await trial.monitor.advance("36s")
    await trial.assertStates(["firing sent 3"])
    const { requests } = receiver
    const mentioned = requests.filter((request) => mentions(textOf(request), trial.words("firing")))
    assert.equal(
      mentioned.length,
      3,
      `three attempts must send one request each, and ${mentioned.length} arrived`,
    )
    assert.ok(mentioned.at(-1)?.isTaken, "the notification is sent, and did not arrive")
    const [{ id } = assert.fail()] = await trial.items()
    assertSameAttempts(mentioned, id)
  },

  "waits for Retry-After": async ({ receiver, trial }) => {
    receiver.manner = { status: 429, retryAfter: 600 }
    await trial.report("critical")
    receiver.manner = { status: 200 }
    await trial.monitor.advance("9m")
    await trial.assertStates(["firing retry 1"])
    await trial.monitor.advance("2m")
    await trial.assertStates(["firing sent 2"])
  },

  "stops after a refusal, and can be replayed": async ({ receiver, trial }) => {
    receiver.manner = { status: 400 }
    await trial.report("critical")
    await trial.assertStates(["firing failed 1"])
    receiver.manner = { status: 200 }
    for (const { id } of await trial.items()) await trial.monitor.outbox.replay(id)
    await trial.monitor.settle()
    await trial.assertStates(["firing sent 1"])
    assertOne(
      requestsAt(receiver).filter(({ isTaken }) => isTaken),
      trial.words("firing"),
    )
  },

  "follows no redirect, and does not count it as delivered": async ({ receiver, trial }) => {
    for (const [index, status] of REDIRECTS.entries()) {
      receiver.manner = { status, location: ELSEWHERE }
      await trial.report("critical", `check-${status}`)
      const state = (await trial.items()).at(-1)?.state
      assert.ok(state === "retry" || state === "failed", `after ${status}, the notification is ${state}`)
      assert.equal((await trial.items()).length, index + 1)
    }
    const followed = receiver.requests.find(({ url }) => url.includes(ELSEWHERE))
    assert.equal(
      followed,
      undefined,
      "a redirect was followed: a POST may become a GET there, which is answered by 200",
    )
  },

  "times out without an answer, and retries": async ({ receiver, trial }) => {
    receiver.manner = "silent"
    await trial.report("critical")
    await trial.monitor.advance("16s")
    await trial.assertStates(["firing retry 1"])
    await until(
      () => receiver.abandoned === 1,
      "the request was not given up: pass the signal on to what sends",
    )
  },

  "retries if the connection breaks": async ({ receiver, trial }) => {
    receiver.manner = "cut"
    await trial.report("critical")
    await trial.assertStates(["firing retry 1"])
  },

  "retries if no receiver listens, and shows no address": async ({ receiver, trial }) => {
    await receiver.stop()
    await trial.report("critical")
    await trial.assertStates(["firing retry 1"])
  },

  "sends a test, and says how it went": async ({ receiver, trial, isOwn }) => {
    const { outcome, error } = await trial.test()
    assert.equal(outcome, "delivered", `${TEST}; ${error}${trial.warnings()}`)
    assert.ok(
      requestsAt(receiver).some(({ text }) => !isOwn || mentions(text, [testText()])),
      TEST,
    )
    for (const status of [400, 503, 302]) {
      receiver.manner = { status, location: ELSEWHERE }
      assert.notEqual(
        (await trial.test()).outcome,
        "delivered",
        `after ${status}, a test counts as delivered`,
      )
    }
    await receiver.stop()
    assert.notEqual(
      (await trial.test()).outcome,
      "delivered",
      "without a receiver, a test counts as delivered",
    )
  },
}

/** Tests of a receiver that states a failure in the body of a 200. */
export const bodyTrials = ({
  deferred,
  refused,
}: Answers): Readonly<Record<string, (tried: HttpTrial) => Promise<void>>> => ({
  ...(deferred !== undefined && {
    "retries after a 200 whose body says try later": async ({ receiver, trial }) => {
      receiver.manner = { status: 200, failure: deferred }
      await trial.report("critical")
      await trial.assertStates(["firing retry 1"])
    },
  }),
  ...(refused !== undefined && {
    "stops after a 200 whose body says no": async ({ receiver, trial }) => {
      receiver.manner = { status: 200, failure: refused }
      await trial.report("critical")
      await trial.assertStates(["firing failed 1"])
    },
  }),
})

const POLL_MILLIS = 5
const POLLS = 400

const until = async (holds: () => boolean, complaint: string): Promise<void> => {
  for (let polls = 0; !holds(); polls += 1) {
    if (polls === POLLS) assert.fail(complaint)
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
  }
}
