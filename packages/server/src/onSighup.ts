import process from "node:process"

let isMissed = false
let follow = (): void => {
  isMissed = true
}

/**
 * From now on SIGHUP does not end this process, neither while it starts nor while it stops. To be
 * called once, by a server, before it loads the rest.
 */
export const noteHangups = (): void => void process.on("SIGHUP", () => follow())

/** Calls the listener at each SIGHUP, and immediately if one came before. */
export const onHangup = (listener: () => void): void => {
  follow = listener
  if (isMissed) listener()
}
