import { actAsOwner, makeStateFolder } from "../spool/StateFolder.ts"
import { fingerprintOf, KeyFile } from "../key/KeyFile.ts"
import { complain, print, readOptions, withoutArguments } from "./commandLine.ts"

const keysOf = (state: string): KeyFile => {
  makeStateFolder(state)
  actAsOwner(state)
  return new KeyFile(state)
}

/** `tocsin-agent fingerprint`: prints what people compare; makes the key if there is none. */
export const fingerprint = (argv: ReadonlyArray<string>): number => {
  const keys = keysOf(withoutArguments(readOptions(argv)).state)
  print(fingerprintOf(keys.current()))
  const next = keys.next()
  if (next !== undefined)
    complain(`a new key waits for an operator: its fingerprint is ${fingerprintOf(next)}`)
  return 0
}

/** `tocsin-agent rotate`: makes a new key. The agent uses it as soon as an operator accepts it. */
export const rotate = (argv: ReadonlyArray<string>): number => {
  const keys = keysOf(withoutArguments(readOptions(argv)).state)
  print(fingerprintOf(keys.rotate()))
  complain("accept the key with this fingerprint; until then the former key stays in use")
  return 0
}
