import type { Member, Named } from "./Named.ts"
import type { OnCall } from "./OnCall.ts"
import type { Row, Rows } from "./Row.ts"
import type { Severities } from "./Severities.ts"
import type { World } from "./World.ts"

/** Within how many seconds the service does what is due, and one more. */
export const CHORES = 16

/** An incident as those see it who decide about its rows. */
export interface Facts {
  readonly world: World
  readonly key: string
  readonly members: ReadonlyMap<string, Member>
  readonly rows: Rows
  readonly severities: Severities
  readonly onCall: OnCall
  readonly rank: number
  readonly isAcknowledged: boolean
  /** The last end of an acknowledgement, or of a hold under which something was due. */
  readonly beginning: number
  /** When an acknowledgement ran out last. */
  readonly ranOutAt: number
  /** Since when something is due under a hold, since it began. */
  readonly dueUnder: Map<"mute" | "outage", number>
  /** For whom a later step alone has been due under them: the service keeps a held row. */
  readonly waitsUnder: Set<string>
  /** Notes that something is due under a silence or an outage. */
  readonly noteDue: (at: number) => void
  /** Who is owed a firing because a worsening ended an acknowledgement. */
  readonly forced: Set<string>
  /** Who is owed a firing of an event, where there are no routes. */
  readonly eventOwed: Set<string>
  /** The steps that have paged, by receiver, delay and beginning. */
  readonly paged: Set<string>
  /** The steps that may page again, because a clock was set back to before they began. */
  readonly pagedAhead: ReadonlySet<string>
  /** Whether an acknowledgement, a silence or an outage holds what has a delay. */
  readonly isHeld: (at: number) => boolean
  /** Whom the routes name, if each member counts at most as a rank. */
  readonly names: (most?: number) => ReadonlyMap<string, Named>
  readonly write: (at: number, receiver: string, more: Partial<Row>) => Row
}
