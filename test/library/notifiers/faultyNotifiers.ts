import type { CustomNotifier, Notification, SendContext, SendResult } from "tocsin"

/** A credential that the notifiers know. */
export const TOKEN = "syt_s3cret/token"

type Send = (notification: Notification, context: SendContext) => Promise<SendResult | void>

/** A request, and how to judge its answer. */
interface Parts {
  readonly body: (notification: Notification) => string
  readonly headers: (notification: Notification) => Readonly<Record<string, string>>
  readonly redirect: "follow" | "manual"
  readonly signal: (signal: AbortSignal) => AbortSignal | undefined
  readonly judge: (answer: Response, address: string) => Promise<SendResult | void> | SendResult | void
  readonly send: (send: Send, address: string) => Send
  readonly test: (send: Send) => CustomNotifier["test"] | undefined
}

const judge = ({ status, headers }: Response, error = `The pager answered ${status}.`): SendResult => {
  if (status < 300) return { outcome: "delivered" }
  const isBusy = status === 429 || status >= 500
  const retryAfterSeconds = Number(headers.get("retry-after") ?? 0)
  return isBusy ? { outcome: "deferred", error, retryAfterSeconds } : { outcome: "refused", error }
}

const A_TEST = { id: "test", event_type: "firing", attempt: 1 } as const

const good: Parts = {
  body: ({ text }) => text,
  headers: ({ id }) => ({ "idempotency-key": id, authorization: `Bearer ${TOKEN}` }),
  redirect: "manual",
  signal: (signal) => signal,
  judge: (answer) => judge(answer),
  send: (send) => send,
  // A test has no other field of a notification.
  test:
    (send) =>
    ({ text }, context) =>
      send({ ...A_TEST, text } as Notification, context),
}

const notifier =
  (parts: Partial<Parts>, secrets?: ReadonlyArray<string>) =>
  (address: string): CustomNotifier => {
    const {
      body,
      headers,
      redirect,
      signal: signalOf,
      judge: judgeAnswer,
      send: wrap,
      test,
    } = { ...good, ...parts }
    const send: Send = wrap(async (notification, { signal }) => {
      const given = signalOf(signal)
      const answer = await fetch(address, {
        method: "POST",
        headers: headers(notification),
        body: body(notification),
        redirect,
        ...(given && { signal: given }),
      })
      return judgeAnswer(answer, address)
    }, address)
    const own = test(send)
    return { name: "pager", send, ...(own && { test: own }), ...(secrets && { secrets }) }
  }

const firingOnly =
  (then: SendResult | void): Parts["send"] =>
  (send) =>
  async (notification, context) =>
    notification.event_type === "firing" ? send(notification, context) : then

/** Keeps all promises. */
export const GOOD: Readonly<Record<string, (address: string) => CustomNotifier>> = {
  text: notifier({}),
  "the key and the state, in an address": (address) => ({
    ...notifier({})(address),
    send: async ({ incident, event_type }, { signal }) => {
      const query = new URLSearchParams({ key: incident.incident_key, event_type })
      return judge(await fetch(`${address}/x?${query}`, { method: "PUT", redirect: "manual", signal }))
    },
  }),
  "escaped JSON with a new number, beside the id": notifier({
    body: ({ id, text }) =>
      JSON.stringify({ id, text, number: Math.random() })
        .replaceAll("/", String.raw`\/`)
        .replaceAll("C", String.raw`\u0043`),
    headers: () => ({ "content-type": "application/json" }),
  }),
  "base64 in lines": notifier({
    body: ({ text }) => Buffer.from(text).toString("base64").replaceAll(/.{20}/g, "$&\r\n"),
  }),
  "a masked token in errors": notifier(
    { judge: (answer) => judge(answer, `The token ${TOKEN} is refused.`) },
    [TOKEN],
  ),
}

const incident = "sends an incident"
const several = "sends several incidents"
const retries = "retries after a failure"
const third = "sends the same at each attempt"
const retryAfter = "waits for Retry-After"
const refusal = "stops after a refusal"
const redirects = "follows no redirect"
const silent = "times out"
const breaks = "retries if the connection breaks"
const unreachable = "retries if no receiver listens"
const tests = "sends a test"

let first = ""

/** Break a promise; each with the test that sees it. */
export const FAULTY: Readonly<
  Record<string, readonly [seenBy: string, make: (address: string) => CustomNotifier]>
> = {
  "sends no resolution": [incident, notifier({ send: firingOnly({ outcome: "delivered" }) })],
  "sends no resolution, and returns nothing": [incident, notifier({ send: firingOnly(undefined) })],
  "sends a resolution like its firing": [
    incident,
    notifier({ body: ({ incident: { incident_key } }) => incident_key }),
  ],
  "sends an empty text": [incident, notifier({ body: () => "" })],
  "sends an object": [incident, notifier({ body: (notification) => String(notification) })],
  "sends twice": [
    incident,
    notifier({
      send: (send) => async (notification, context) => {
        await send(notification, context)
        return send(notification, context)
      },
    }),
  ],
  "sends the first text for ever": [several, notifier({ body: ({ text }) => (first ||= text) })],
  "sends one at a time, and drops others": [
    several,
    notifier({
      send: (send) => {
        let isBusy = false
        return async (notification, context) => {
          if (isBusy) return { outcome: "delivered" }
          isBusy = true
          return send(notification, context).finally(() => (isBusy = false))
        }
      },
    }),
  ],
  "has another id at each attempt": [
    third,
    notifier({ headers: () => ({ "idempotency-key": crypto.randomUUID() }) }),
  ],
  "has the time as its id": [
    third,
    notifier({ body: ({ text }) => `${performance.now()} ${text}`, headers: () => ({}) }),
  ],
  "has the number of the attempt in its text": [
    third,
    notifier({ body: ({ attempt, text }) => `${text} (${attempt})`, headers: () => ({}) }),
  ],
  "drops a third attempt": [
    third,
    notifier({
      send: (send) => async (notification, context) =>
        notification.attempt > 2 ? { outcome: "delivered" } : send(notification, context),
    }),
  ],
  "sends its text at the first attempt alone": [
    third,
    notifier({ body: ({ attempt, text }) => (attempt === 1 ? text : "") }),
  ],
  "gives up the signal": [silent, notifier({ signal: () => undefined })],
  "ignores Retry-After": [
    retryAfter,
    notifier({
      judge: ({ status }) =>
        status < 300 ? { outcome: "delivered" } : { outcome: "deferred", error: "Busy." },
    }),
  ],
  "refuses after 429": [
    retryAfter,
    notifier({ judge: ({ status }) => (status < 300 ? undefined : { outcome: "refused", error: "No." }) }),
  ],
  "refuses after 503": [
    retries,
    notifier({ judge: ({ status }) => (status < 300 ? undefined : { outcome: "refused", error: "No." }) }),
  ],
  "delivers after any status": [retries, notifier({ judge: () => ({ outcome: "delivered" }) })],
  "delivers after 400": [
    refusal,
    notifier({ judge: (answer) => (answer.status < 500 ? undefined : judge(answer)) }),
  ],
  "defers after 400": [
    refusal,
    notifier({ judge: ({ status }) => (status < 300 ? undefined : { outcome: "deferred", error: "No." }) }),
  ],
  "throws after 400": [
    refusal,
    notifier({
      judge: ({ status }) => {
        if (status >= 300) throw new Error(`status ${status}`)
      },
    }),
  ],
  "swallows an error of the network": [
    unreachable,
    notifier({ send: (send) => (notification, context) => send(notification, context).catch(() => {}) }),
  ],
  "swallows a broken connection": [
    breaks,
    notifier({
      send: (send) => (notification, context) =>
        send(notification, context).catch((error: Error) => {
          if (JSON.stringify(error.cause).includes("ECONNREFUSED")) throw error
        }),
    }),
  ],
  "does not wait for the answer": [
    retries,
    notifier({
      send: (send) => async (notification, context) => void send(notification, context).catch(() => {}),
    }),
  ],
  // Plain JavaScript can return anything.
  "returns the answer": [incident, notifier({ judge: (answer) => answer as never })],
  "returns true": [incident, notifier({ judge: () => true as never })],
  "delivers after 3xx": [
    redirects,
    notifier({ judge: (answer) => (answer.status < 400 ? { outcome: "delivered" } : judge(answer)) }),
  ],
  "follows redirects": [redirects, notifier({ redirect: "follow" })],
  "takes an answer without a place for a success": [
    redirects,
    notifier({ judge: (answer) => (answer.status === 300 ? undefined : judge(answer)) }),
  ],
  "shows its token after 400": [
    refusal,
    notifier({ judge: (answer) => judge(answer, `${TOKEN} is refused`) }),
  ],
  "shows its token after 503, encoded": [
    retries,
    notifier({ judge: (answer) => judge(answer, `see ?token=${encodeURIComponent(TOKEN)}`) }),
  ],
  "shows its address after 503": [
    retries,
    notifier({ judge: (answer, address) => judge(answer, `${address} fails`) }),
  ],
  "shows the path of its address": [
    refusal,
    notifier({ judge: (answer, address) => judge(answer, `POST ${new URL(address).pathname} failed`) }),
  ],
  "shows the receiver's text": [
    refusal,
    notifier({ judge: async (answer) => judge(answer, (await answer.text()) || "No.") }),
  ],
  "shows where a redirect leads": [
    redirects,
    notifier({ judge: (answer) => judge(answer, `moved to ${answer.headers.get("location")}`) }),
  ],
  "throws its token": [
    unreachable,
    notifier({
      send: (send) => (notification, context) =>
        send(notification, context).catch((cause: unknown) => {
          throw new Error(`cannot send with ${TOKEN}`, { cause })
        }),
    }),
  ],
  "throws its token as a property of a cause": [
    retries,
    notifier({
      judge: (answer) => {
        if (answer.status < 300) return
        throw new Error("failed", { cause: { authorization: `Bearer ${TOKEN}` } })
      },
    }),
  ],
  "has no test": [tests, notifier({ test: () => undefined })],
  "throws in a test": [tests, notifier({ test: () => () => Promise.reject(new Error("not implemented")) })],
  "delivers a test without sending": [tests, notifier({ test: () => () => ({ outcome: "delivered" }) })],
  "sends an empty test": [
    tests,
    notifier({ test: (send) => (_, context) => send({ ...A_TEST, text: "" } as Notification, context) }),
  ],
  "delivers a test in any case": [
    tests,
    notifier({
      test:
        (send) =>
        async ({ text }, context) =>
          void (await send({ ...A_TEST, text } as Notification, context)),
    }),
  ],
  "has a name that is refused": [incident, (address) => ({ ...notifier({})(address), name: "Matrix room" })],
  "has the suite's own name": [incident, (address) => ({ ...notifier({})(address), name: "debug" })],
  "throws when it is made": [
    incident,
    () => {
      throw new TypeError("no address")
    },
  ],
  // Plain JavaScript can return anything.
  "is not made": [incident, () => undefined as never],
  "is made later": [incident, (address) => Promise.resolve(notifier({})(address)) as never],
}
