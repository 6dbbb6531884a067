import { Schema } from "effect"

/** The server cannot start. The message is for the person who started it. */
export class StartFailure extends Schema.TaggedError<StartFailure>()("StartFailure", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect()),
}) {}

/** Why the server could not start. */
export interface StartProblem {
  readonly _tag: string
  readonly message: string
  readonly cause?: unknown
}

/** Messages for an address that cannot be listened on, by the system's error code. */
const LISTEN_MESSAGES: Readonly<Record<string, (reason: string) => string>> = {
  EADDRINUSE: (reason) =>
    `Tocsin cannot start: ${reason}; stop the program that listens there, or set SERVICE_HOST and SERVICE_PORT to another address`,
  EADDRNOTAVAIL: (reason) =>
    `Tocsin cannot start: ${reason}; set SERVICE_HOST to an address of this machine, or to 0.0.0.0 for all its addresses`,
  ENOTFOUND: (reason) =>
    `Tocsin cannot start: ${reason}; set SERVICE_HOST to an address of this machine, or to a name that resolves to one`,
  EACCES: (reason) =>
    `Tocsin cannot start: ${reason}; set SERVICE_PORT to 1024 or more, or allow Tocsin's user to bind lower ports`,
}

const listenMessage = (reason: string): string =>
  `Tocsin cannot start: ${reason}; set SERVICE_HOST and SERVICE_PORT to an address that Tocsin can listen on`

const startFailureMessage = (message: string): string => `Tocsin cannot start: ${message}`

/** The message for the person who started the server. */
export const startMessage = ({ _tag, message, cause }: StartProblem): string => {
  if (_tag !== "ServeError") return startFailureMessage(message)
  if (!(cause instanceof Error)) return listenMessage("the address cannot be listened on")
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : ""
  return (LISTEN_MESSAGES[code] ?? listenMessage)(cause.message)
}
