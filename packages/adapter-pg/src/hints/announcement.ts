/** The channel on which processes announce deliveries and changed topics. */
export const CHANNEL = "tocsin"

/** Sends an announcement on {@link CHANNEL}. */
export const notify = "SELECT pg_notify($1, $2)"

/** Announced like a topic: the sender has enqueued deliveries. */
export const DELIVERIES = "deliveries"

const SEPARATOR = " "

/** A payload: the process that sends it, and what it announces. */
export const announcement = (sender: string, names: ReadonlyArray<string>): string =>
  [sender, ...names].join(SEPARATOR)

/** The announcement of a process other than `self`; empty if `self` is the sender. */
export const announcedToOthers = (payload: string, self: string): ReadonlyArray<string> => {
  const [sender, ...names] = payload.split(SEPARATOR)
  return sender === self ? [] : names
}
