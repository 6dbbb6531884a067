import type { Groups, KeyedName, Keys } from "../../model/StoredTables.ts"
import type { RowRequest } from "./RowRequest.ts"

type Part = keyof RowRequest
type Asked<P extends Part> = NonNullable<RowRequest[P]>

/** How a storage loads each part of a request. */
export type Loaders<Reading, Parts extends Part = Part> = {
  readonly [P in Parts]: (reading: Reading, asked: Asked<P>) => void
}

/**
 * Loads the parts that a request has. Storages do not look at all the others, of which requests lack
 * most: reading absent properties of objects of many shapes is slow.
 */
export const loadParts = <Reading>(
  loaders: Loaders<Reading>,
  reading: Reading,
  request: RowRequest,
): void => {
  // Other parts read the agents of the same request.
  if (request.agents !== undefined) loaders.agents(reading, request.agents)
  // A request has no other keys than those of its type.
  for (const part of Object.keys(request) as Array<Part>) {
    if (part === "agents") continue
    const asked = request[part]
    if (asked !== undefined) loadPart(loaders, reading, part, asked)
  }
}

const loadPart = <Reading, P extends Part>(
  loaders: Loaders<Reading>,
  reading: Reading,
  part: P,
  asked: Asked<P>,
): void => loaders[part](reading, asked)

/** The rows of each table that a request names, by `rows` or by `groups`. */
export type AskedOfTables<Names extends Keys | Groups> = {
  readonly [N in KeyedName]?: ReadonlyArray<Names[N]>
}

/** Loads them, a table at a time. */
export const ofEachTable = <Names extends Keys | Groups>(
  asked: AskedOfTables<Names>,
  load: <N extends KeyedName>(name: N, named: ReadonlyArray<Names[N]>) => void,
): void => {
  const loadOf = <N extends KeyedName>(name: N): void => {
    const named = asked[name]
    if (named !== undefined) load(name, named)
  }
  // It names tables and nothing else.
  for (const name of Object.keys(asked) as Array<KeyedName>) loadOf(name)
}
