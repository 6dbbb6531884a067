import { Storage } from "@tocsin/core/ports/Storage"
import type { Command } from "@tocsin/core/workspace/Decision"
import type { Scope } from "@tocsin/core/workspace/Scope"

/** A storage, and what its commands asked it for. */
export interface AskingStorage {
  readonly storage: Storage["Service"]
  /** The scopes since the last call, in their order. */
  readonly takeAsked: () => ReadonlyArray<Scope>
}

/** A part that is undefined means as much as one that is absent. */
const withoutUndefined = (scope: Scope): Scope =>
  Object.fromEntries(Object.entries(scope).filter(([, part]) => part !== undefined))

const noting =
  <A>(command: Command<A>, note: (scope: Scope) => void): Command<A> =>
  (workspace, now) =>
    (function* () {
      const decision = command(workspace, now)
      let step = decision.next()
      while (step.done !== true) {
        note(step.value)
        yield step.value
        step = decision.next()
      }
      return step.value
    })()

/** Notes which rows every command asks for. */
export const askingStorage = (storage: Storage["Service"]): AskingStorage => {
  let asked: Array<Scope> = []
  return {
    storage: Storage.of({
      ...storage,
      transact: (command) =>
        storage.transact(noting(command, (scope) => asked.push(withoutUndefined(scope)))),
    }),
    takeAsked: () => {
      const taken = asked
      asked = []
      return taken
    },
  }
}
