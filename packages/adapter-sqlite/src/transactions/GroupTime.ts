/** While people read lists, a group takes this long; twice that if it waited longer. */
const MILLIS = 10

/** While nobody reads them: results of one transaction share pages of the log. See docs/decisions/README.md, 0052. */
const UNREAD_MILLIS = 50

/** People read lists when there were this many pages within that time; what the server itself looks for takes fewer. */
const PAGES = 4
const PAGES_WITHIN_MILLIS = 2_000

/** How long a group of commands may take. The event loop is blocked meanwhile, and a list waits for several groups. */
export class GroupTime {
  /** When the last pages of lists were asked for, the oldest first. */
  #pages: ReadonlyArray<number> = []

  notePage(now: number): void {
    this.#pages = [...this.#pages, now].slice(-PAGES)
  }

  /** The milliseconds of a group that begins `now` and waited for its turn since `dueSince`. */
  ofGroup(now: number, dueSince: number): number {
    const first = this.#pages.at(-PAGES)
    if (first === undefined || now - first > PAGES_WITHIN_MILLIS) return UNREAD_MILLIS
    return Math.min(Math.max(MILLIS, now - dueSince), 2 * MILLIS)
  }
}
