import { type Explored, explore } from "./explore.ts"
import { ALPHABET, alphabetOf, enrolled, eventful } from "./moves.ts"
import { emptyWorld } from "./World.ts"

/** How far each small world is explored. */
export interface Depths {
  /** Moves from nothing. */
  readonly fromNothing: number
  /** Moves after two agents were accepted. */
  readonly fromAccepted: number
  /** Commands that two processes begin. */
  readonly ofProcesses: readonly [number, number]
}

/** For each change. */
export const SHALLOW: Depths = { fromNothing: 4, fromAccepted: 2, ofProcesses: [2, 1] }
/** For nights. */
export const DEEP: Depths = { fromNothing: 6, fromAccepted: 4, ofProcesses: [3, 3] }

/** No command takes more moves than this: a search, its work, and a restart or another one. */
const MOVES_OF_A_COMMAND = 2

/** An exploration by its name. */
export interface SmallWorld {
  readonly name: string
  readonly explore: () => Explored
}

/** The small worlds, explored exhaustively. */
export const smallWorlds = ({
  fromAccepted,
  fromNothing,
  ofProcesses,
}: Depths): ReadonlyArray<SmallWorld> => [
  {
    name: `every sequence of up to ${fromNothing} moves from nothing`,
    explore: () => explore(emptyWorld(Infinity), ALPHABET, { depth: fromNothing, isSymmetric: true }),
  },
  {
    name: `every sequence of up to ${fromAccepted} moves of two accepted agents`,
    explore: () =>
      explore(enrolled(emptyWorld(Infinity)), ALPHABET, { depth: fromAccepted, isSymmetric: true }),
  },
  {
    name: `every interleaving of two processes with ${ofProcesses.join(" and ")} commands`,
    explore: () =>
      explore(eventful(emptyWorld(...ofProcesses)), [...alphabetOf(0), ...alphabetOf(1)], {
        depth: (ofProcesses[0] + ofProcesses[1]) * MOVES_OF_A_COMMAND,
        isSymmetric: false,
      }),
  },
]

/** The findings of an exploration, in words. */
export const wordsOf = (name: string, { broken, moves, sequences, states }: Explored): string =>
  broken === undefined
    ? `${name}: ${states} states, ${moves} moves for ${sequences} sequences; each keeps every law`
    : `${name} breaks laws:\n  ${broken.path.join("\n  ")}\n${broken.laws.join("\n")}`
