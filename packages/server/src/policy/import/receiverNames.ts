import { NotifierKind } from "@tocsin/contract/formats/Status"

const MOST_NAME = 64
/** Room for the number of one among equal names. */
const MOST_BASE = 58

const plainName = (name: string): string => {
  const plain = name.toLowerCase().replace(/[^a-z0-9_]/gu, "_")
  // A receiver of a policy that is named like a kind is of that kind.
  const isOpen = /^[a-z]/u.test(plain) && !NotifierKind.literals.some((kind) => kind === plain)
  return (isOpen ? plain : `r_${plain}`).slice(0, MOST_NAME)
}

/** The names of receivers as a policy has them, each its own. */
export const namesOf = (given: ReadonlyArray<string>) => {
  const names = new Map<string, string>()
  const used = new Set<string>()
  for (const name of given) {
    const plain = plainName(name)
    let own = plain
    for (let number = 2; used.has(own); number += 1) own = `${plain.slice(0, MOST_BASE)}_${number}`
    used.add(own)
    names.set(name, own)
  }
  return (name: string): string => names.get(name) ?? plainName(name)
}
