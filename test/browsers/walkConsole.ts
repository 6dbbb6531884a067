import { request as send, type ServerResponse } from "node:http"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { until } from "../processes/until.ts"
import { serve } from "../console/serve.ts"
import { startService } from "../console/Site.ts"
import type { Tab } from "./WebDriver.ts"

/** A proxy that counts the streams which a console holds, and when it read last. */
const startCounter = Effect.fnUntraced(function* (upstream: string) {
  const streams = new Set<ServerResponse>()
  const counts = { begun: 0, most: 0, readAt: 0 }
  const origin = yield* serve((incoming, outgoing) => {
    const isStream = incoming.url?.startsWith("/ops/v1/stream") === true
    if (incoming.url?.startsWith("/ops/v1/incidents") === true) counts.readAt = performance.now()
    if (isStream) {
      streams.add(outgoing)
      counts.begun += 1
      counts.most = Math.max(counts.most, streams.size)
    }
    const asked = send(
      `${upstream}${incoming.url}`,
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    asked.on("error", () => outgoing.destroy())
    outgoing.on("close", () => {
      streams.delete(outgoing)
      asked.destroy()
    })
    incoming.pipe(asked)
  })
  const cut = () => {
    for (const stream of streams) stream.destroy()
  }
  return { origin, counts, streams, cut }
})

/** Fills in a field as its reader does. */
const fill = (label: string, text: string): string =>
  `const field = document.querySelector(${JSON.stringify(label)})
   Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, ${JSON.stringify(text)})
   field.dispatchEvent(new InputEvent("input", { bubbles: true }))
   field.form.requestSubmit()`

/** The acts of a test in a tab. */
const handsOn = (tab: Tab) => {
  const run = <A>(body: string) => Effect.promise(() => tab.run<A>(body))
  const shows = (text: string) =>
    until(
      `the page shows ${JSON.stringify(text)}`,
      run<boolean>(`return document.body.innerText.includes(${JSON.stringify(text)})`),
    )
  const enter = (token: string) =>
    Effect.andThen(
      until("the page asks for a token", run<boolean>('return document.querySelector("#token") !== null')),
      run(fill("#token", token)),
    )
  return { go: (address: string) => Effect.promise(() => tab.go(address)), run, shows, enter }
}

/** Longer than the time between two polls of a page without a stream, shorter than that of one with it. */
const QUIET_MILLIS = 4_000

/** A person's hour at the console: signs in, sees an incident come, reads other pages, loses the server, signs out. */
export const walkConsole = Effect.fnUntraced(function* (tab: Tab) {
  const { baseUrl, demo } = yield* startService()
  const { origin, counts, streams, cut } = yield* startCounter(baseUrl)
  const { go, run, shows, enter } = handsOn(tab)
  const isCurrent = Effect.gen(function* () {
    yield* until(
      "the page reads by its stream, not by polls",
      Effect.sync(() => streams.size === 1 && performance.now() - counts.readAt > QUIET_MILLIS),
    )
    assert.isAtMost(counts.most, 2)
  })
  const reports = (output: string) =>
    Effect.promise(async () => {
      await demo.report("host-1", [{ check_id: "disk", status: "critical", output }])
    })

  yield* Effect.promise(() => demo.join("host-1"))
  yield* go(origin)
  yield* enter(OPERATOR_TOKEN)
  yield* shows("Overview")
  yield* isCurrent
  yield* reports("nearly full")
  yield* shows("nearly full")
  for (const page of ["checks", "on-call", "policy", "overview"]) {
    yield* run(`location.hash = "#/${page}"`)
    yield* until(`${page} has a title`, run<boolean>('return document.querySelector("h1") !== null'))
  }
  yield* run('location.hash = "#/policy"')
  yield* until(
    "a form is opened by its button",
    run<boolean>(`const opens = [...document.querySelectorAll("main button")].find(({ innerText }) => innerText === "Add a route")
      opens?.focus()
      opens?.click()
      return opens !== undefined`),
  )
  yield* until(
    "Cancel leads back to the button",
    run<boolean>(`const cancels = [...document.querySelectorAll("dialog[open] button")].find(({ innerText }) => innerText === "Cancel")
      cancels?.focus()
      cancels?.click()
      return document.querySelector("dialog") === null && document.activeElement.innerText === "Add a route"`),
  )
  for (let times = 0; times < 2; times++) {
    yield* go(`${origin}/?${times}#/incidents`)
    yield* shows("nearly full")
  }
  for (let times = 0; times < 2; times++) {
    const { begun } = counts
    cut()
    yield* until(
      "another stream is there",
      Effect.sync(() => counts.begun > begun && streams.size === 1),
    )
  }
  yield* isCurrent
  yield* run(
    'for (const button of document.querySelectorAll("button")) if (button.innerText === "Sign out") button.click()',
  )
  yield* enter("")
  yield* until(
    "the stream has ended",
    Effect.sync(() => streams.size === 0),
  )
})

/** A person whose browser keeps nothing for the console: it works with a token, and says so. */
export const walkShutConsole = Effect.fnUntraced(function* (tab: Tab) {
  const { baseUrl, demo } = yield* startService()
  const { origin, counts, streams } = yield* startCounter(baseUrl)
  const { go, run, shows, enter } = handsOn(tab)
  yield* Effect.promise(() => demo.join("host-1"))
  yield* go(origin)
  yield* shows("This browser keeps nothing for this page")
  yield* enter(OPERATOR_TOKEN)
  yield* shows("Overview")
  yield* until(
    "a stream is read",
    Effect.sync(() => streams.size === 1),
  )
  yield* run('location.hash = "#/agents"')
  yield* shows("host-1.example")
  assert.isAtMost(counts.most, 2)
})
