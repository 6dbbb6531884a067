import { createHash } from "node:crypto"
import { fingerprint } from "./fingerprint.ts"
import type { Move } from "./moves.ts"
import { worldLaws } from "./worldLaws.ts"
import type { World } from "./World.ts"

/** The findings of an exploration. */
export interface Explored {
  /** Worlds that differ. */
  readonly states: number
  /** Moves that were made and judged. */
  readonly moves: number
  /** Sequences of moves that they stand for. */
  readonly sequences: bigint
  /** The first path to a broken law; `undefined` where every law is kept. */
  readonly broken: { readonly path: ReadonlyArray<string>; readonly laws: ReadonlyArray<string> } | undefined
}

/** A world that was reached for the first time. */
interface Reached {
  readonly world: World
  readonly number: number
  readonly path: Path
}

/** A move with those before it; shared by the paths that continue it. */
type Path = { readonly name: string; readonly before: Path } | undefined

const namesOf = (path: Path): ReadonlyArray<string> =>
  path === undefined ? [] : [...namesOf(path.before), path.name]

/** How many sequences of at most `depth` moves the moves between worlds make up. */
const countSequences = (moves: ReadonlyArray<ReadonlyArray<number>>, depth: number): bigint => {
  let sum = 0n
  let ways = new Map([[0, 1n]])
  for (let step = 0; step < depth; step++) {
    const next = new Map<number, bigint>()
    for (const [from, count] of ways) {
      for (const to of moves[from] ?? []) {
        sum += count
        next.set(to, (next.get(to) ?? 0n) + count)
      }
    }
    ways = next
  }
  return sum
}

/** Makes every sequence of at most `depth` moves, each move from equal worlds once, and judges it. */
export const explore = (
  start: World,
  alphabet: ReadonlyArray<Move>,
  { depth, isSymmetric }: { readonly depth: number; readonly isSymmetric: boolean },
): Explored => {
  const numbers = new Map([[keyOf(start, isSymmetric), 0]])
  const graph: Array<Array<number>> = []
  let moves = 0
  let layer: ReadonlyArray<Reached> = [{ world: start, number: 0, path: undefined }]
  const explored = (broken?: Explored["broken"]): Explored => ({
    states: numbers.size,
    moves,
    sequences: countSequences(graph, depth),
    broken,
  })
  for (let step = 0; step < depth; step++) {
    const next: Array<Reached> = []
    for (const { number, path, world } of layer) {
      const from = (graph[number] = [] as Array<number>)
      for (const { make, name } of alphabet) {
        const moved = make(world)
        if (moved === undefined) continue
        moves += 1
        const laws = worldLaws(moved, world)
        if (laws.length > 0) return explored({ path: namesOf({ name, before: path }), laws })
        const key = keyOf(moved.world, isSymmetric)
        const known = numbers.get(key)
        from.push(known ?? numbers.size)
        if (known !== undefined) continue
        // Worlds of the last moves go no further.
        if (step < depth - 1)
          next.push({ world: moved.world, number: numbers.size, path: { name, before: path } })
        numbers.set(key, numbers.size)
      }
    }
    layer = next
  }
  return explored()
}

const keyOf = (world: World, isSymmetric: boolean): string =>
  createHash("sha256").update(fingerprint(world, isSymmetric)).digest("base64")
