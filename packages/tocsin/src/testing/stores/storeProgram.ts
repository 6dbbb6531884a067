/**
 * The program of another process with the store: it opens it and follows orders, a line each. It announces
 * what it does by synchronous writes, because a store may keep the event loop busy.
 */
export const storeProgram = `
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"

const [module, name, place] = process.argv.slice(1)
const say = (...words) => writeSync(1, JSON.stringify(words) + "\\n")
const entriesOf = (changes) => new Map(changes.map(([key, value]) => [key, value ?? undefined]))
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

const open = async () => {
  const choice = await (await import(module))[name](place)
  const store = await (choice.options ?? choice).open()
  for await (const entry of store.load()) void entry
  return store
}

const store = await open().catch((error) => {
  say("refused", String(error?.message ?? error))
  process.exit(0)
})
say("open")

// Each write begins in the tick in which the one before it settles.
const follow = ([first, ...others], atEnd, errors = []) => {
  const next = (outcome, error) => {
    const isRepeated = error !== undefined && errors.includes(error)
    say(isRepeated ? "repeated" : outcome, String(error?.message ?? error ?? ""))
    return others.length === 0 ? atEnd() : follow(others, atEnd, [...errors, error])
  }
  say("begins")
  return store.write(first).then(() => next("kept"), (error) => next("rejected", error ?? "nothing"))
}

for await (const line of lines) {
  const { writes, isLast } = JSON.parse(line)
  if (!isLast) await follow(writes.map(entriesOf), () => {})
  else {
    // Nothing is said in between, which would take time.
    const die = () => process.kill(process.pid, "SIGKILL")
    const last = ([first, ...others]) => store.write(first).then(() => (others.length === 0 ? die() : last(others)))
    await last(writes.map(entriesOf)).catch((error) => say("rejected", String(error?.message ?? error)))
  }
}
await store.close?.()
say("closed")
`
