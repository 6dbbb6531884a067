import assert from "node:assert/strict"
import type { NotificationOutboxItem } from "@tocsin/client/Resources"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { NotifierOption } from "../notifiers/notifiers.ts"
import { type TestMonitor, createTestMonitor } from "./createTestMonitor.ts"
import type { TestRunner } from "./TestRunner.ts"

/** A notifier that posts over HTTP, as the suite needs it. */
export interface NotifierUnderTest {
  /** The name that the tests show. */
  readonly name: string
  /** Makes the notifier that sends to this address of a receiver on this machine, or below it. */
  readonly make: (address: string) => NotifierOption
}

const TIMEOUT_MILLIS = 30_000

interface Trial {
  readonly receiver: HttpReceiver
  readonly monitor: TestMonitor
  /** The notifications of this notifier, oldest first. */
  readonly items: () => Promise<ReadonlyArray<NotificationOutboxItem>>
  /** Reports a result, and does what is due then. */
  readonly report: (status: "ok" | "critical") => Promise<void>
}

/**
 * Tests of a notifier that posts over HTTP, through the real outbox against a receiver on this machine.
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
  describe(`notifier: ${subject.name}`, () => {
    for (const [name, body] of Object.entries(trials)) it(name, () => attempt(subject, body), TIMEOUT_MILLIS)
  })
}

const statesOf = (items: ReadonlyArray<NotificationOutboxItem>) =>
  items.map(({ event_type, state, attempts }) => `${event_type} ${state} ${attempts}`)

const trials: Readonly<Record<string, (trial: Trial) => Promise<void>>> = {
  "sends an incident, then its resolution": async ({ items, report }) => {
    await report("critical")
    assert.deepEqual(statesOf(await items()), ["firing sent 1"])
    await report("ok")
    assert.deepEqual(statesOf(await items()), ["firing sent 1", "resolved sent 1"])
  },

  "retries after a failure, and sends the resolution only after the firing": async (trial) => {
    const { receiver, monitor, items, report } = trial
    receiver.manner = { status: 503 }
    await report("critical")
    assert.deepEqual(statesOf(await items()), ["firing retry 1"])
    await report("ok")
    // It makes the retry of its firing due.
    assert.deepEqual(statesOf(await items()), ["firing retry 2", "resolved pending 0"])
    receiver.manner = { status: 200 }
    await monitor.advance("1m")
    assert.deepEqual(statesOf(await items()), ["firing sent 3", "resolved sent 1"])
  },

  "waits for Retry-After": async ({ receiver, monitor, items, report }) => {
    receiver.manner = { status: 429, retryAfter: 600 }
    await report("critical")
    receiver.manner = { status: 200 }
    await monitor.advance("9m")
    assert.deepEqual(statesOf(await items()), ["firing retry 1"])
    await monitor.advance("2m")
    assert.deepEqual(statesOf(await items()), ["firing sent 2"])
  },

  "stops after a refusal, and can be replayed": async (trial) => {
    const { receiver, monitor, items, report } = trial
    receiver.manner = { status: 400 }
    await report("critical")
    assert.deepEqual(statesOf(await items()), ["firing failed 1"])
    receiver.manner = { status: 200 }
    for (const { id } of await items()) await monitor.outbox.replay(id)
    await monitor.settle()
    assert.deepEqual(statesOf(await items()), ["firing sent 1"])
  },

  "times out without an answer, and retries": async ({ receiver, monitor, items, report }) => {
    receiver.manner = "silent"
    await report("critical")
    await monitor.advance("16s")
    assert.deepEqual(statesOf(await items()), ["firing retry 1"])
    await until(
      () => receiver.abandoned === 1,
      "the request was not given up: pass the signal on to what sends",
    )
  },

  "retries if no receiver listens, and shows no address": async ({ receiver, items, report }) => {
    await receiver.stop()
    await report("critical")
    const found = await items()
    assert.deepEqual(statesOf(found), ["firing retry 1"])
    const shown = found.map(({ last_error }) => last_error ?? "").join("\n")
    assert.ok(!shown.includes(SECRET_PATH), `last_error shows more of the address than its origin: ${shown}`)
  },
}

const attempt = async (
  { name, make }: NotifierUnderTest,
  body: (trial: Trial) => Promise<void>,
): Promise<void> => {
  const receiver = await startReceiver()
  const notifier = make(receiver.address)
  assert.notEqual(notifier.name, "debug", `${name}: debug is the name of the suite's own notifier`)
  const monitor = await createTestMonitor({ notifiers: [notifier] })
  try {
    const agent = await monitor.agent("web-1")
    await body({
      receiver,
      monitor,
      report: (status) => {
        agent.report("disk", status)
        return monitor.settle()
      },
      items: async () => {
        const all = monitor.outbox.all({ sort: "created_at", direction: "asc" })
        const items: Array<NotificationOutboxItem> = []
        for await (const item of all) if (item.notifier === notifier.name) items.push(item)
        return items
      },
    })
  } finally {
    await monitor.close()
    await receiver.stop()
  }
}

const POLL_MILLIS = 5
const POLLS = 400

const until = async (holds: () => boolean, complaint: string): Promise<void> => {
  for (let polls = 0; !holds(); polls += 1) {
    if (polls === POLLS) assert.fail(complaint)
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS))
  }
}

/** How a receiver answers: with a status and perhaps Retry-After, or never. */
type Manner = { readonly status: number; readonly retryAfter?: number } | "silent"

/** A part of the address, where many receivers have a credential. */
const SECRET_PATH = "c2VjcmV0IHBhdGg"

type HttpReceiver = Awaited<ReturnType<typeof startReceiver>>

const startReceiver = async () => {
  /** How it answers, and how many clients closed their connection before the answer. */
  const state: { manner: Manner; abandoned: number } = { manner: { status: 200 }, abandoned: 0 }
  const server = createServer((request, response) => {
    const { manner } = state
    response.on("close", () => {
      if (!response.writableFinished) state.abandoned += 1
    })
    request.resume()
    if (manner === "silent") return
    request.on("end", () => {
      if (manner.retryAfter !== undefined) response.setHeader("retry-after", manner.retryAfter)
      response.writeHead(manner.status).end()
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  // A server that listens on a port has this form of address.
  const { port } = server.address() as AddressInfo
  const stop = async (): Promise<void> => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }
  return Object.assign(state, { address: `http://127.0.0.1:${port}/${SECRET_PATH}`, stop })
}
