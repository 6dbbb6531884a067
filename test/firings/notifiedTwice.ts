import type { Message } from "./Story.ts"

const AT_ONCE = 15

/** The firings of an incident that came to a receiver twice at once for one cause. Each event that worsens has its own. */
export const notifiedTwice = <A extends Omit<Message, "from" | "to"> & { readonly at: number }>(
  messages: ReadonlyArray<A>,
): ReadonlyArray<A> =>
  messages.filter(({ at, cause, event, key, opening, receiver }, n) => {
    if (event !== "firing" || cause === "worsened") return false
    const others = messages.slice(0, n).filter((one) => one.event === "firing" && one.cause === cause)
    const own = others.filter(
      (one) => one.receiver === receiver && one.key === key && one.opening === opening,
    )
    return own.some((one) => Math.abs(one.at - at) < AT_ONCE)
  })
