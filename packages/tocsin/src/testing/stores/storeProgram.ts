/**
 * The program of another process with the store: it opens it and follows orders, a line each. It announces
 * what it does by synchronous writes, because a store may keep the event loop busy.
 */
export const storeProgram = `
import { createHook } from "node:async_hooks"
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"

const [module, name, place] = process.argv.slice(1)
const say = (...words) => writeSync(1, JSON.stringify(words) + "\\n")
const entriesOf = (changes) => new Map(changes.map(([key, value]) => [key, value ?? undefined]))
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

const open = async () => {
  const choice = await (await import(module))[name](place)
  const store = await (choice.options ?? choice).open()
  for await (const entry of await store.load()) void entry
  return store
}

const store = await open().catch((error) => {
  say("refused", String(error?.message ?? error))
  process.exit(0)
})
say("open")

const die = () => process.kill(process.pid, "SIGKILL")

// A step is something that a store waited for: a file, a timer, a thread.
const waits = new Set()
let [steps, lastStep] = [0]
createHook({
  init: (id, type) => void (type !== "PROMISE" && waits.add(id)),
  before: (id) => void (waits.has(id) && ++steps === lastStep && die()),
}).enable()

// Each write begins in the tick in which the one before it settles.
const follow = ([first, ...others], errors = []) => {
  const next = (outcome, text, known) => {
    say(outcome, text)
    return others.length === 0 ? undefined : follow(others, known)
  }
  say("begins")
  steps = 0
  return store.write(first).then(
    () => next("kept", String(steps), errors),
    (error) => next(errors.includes(error) ? "repeated" : "rejected", String(error?.message ?? error), [...errors, error]),
  )
}

for await (const line of lines) {
  const { writes, isLast, step } = JSON.parse(line)
  if (!isLast) await follow(writes.map(entriesOf))
  else {
    // Nothing is said in between, which would take time.
    steps = 0
    lastStep = step
    const last = ([first, ...others]) => store.write(first).then(() => (others.length === 0 ? die() : last(others)))
    await last(writes.map(entriesOf)).catch((error) => say("rejected", String(error?.message ?? error)))
  }
}
await store.close?.()
say("closed")
`
