import { Search } from "@tocsin/core/kernel/unitOfWork/Search"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { type Command, likewise } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"

/** A storage that records the row requests of its commands. */
export interface AskingStorage {
  readonly storage: Storage["Service"]
  /** The scopes since the last call, in their order. */
  readonly takeAsked: () => ReadonlyArray<RowRequest>
}

/** A part that is undefined means as much as one that is absent. */
const withoutUndefined = (request: RowRequest): RowRequest =>
  Object.fromEntries(Object.entries(request).filter(([, part]) => part !== undefined))

const noting = <A>(command: Command<A>, note: (request: RowRequest) => void): Command<A> =>
  likewise(command, function* (unit, now) {
    const decision = command(unit, now)
    let step = decision.next()
    while (step.done !== true) {
      if (!(step.value instanceof Search)) note(step.value)
      step = decision.next(yield step.value)
    }
    return step.value
  })

/** Notes which rows every command asks for. */
export const askingStorage = (storage: Storage["Service"]): AskingStorage => {
  let asked: Array<RowRequest> = []
  return {
    storage: Storage.of({
      ...storage,
      transact: (command) =>
        storage.transact(noting(command, (request) => asked.push(withoutUndefined(request)))),
    }),
    takeAsked: () => {
      const taken = asked
      asked = []
      return taken
    },
  }
}
