/** The parts of the rules of episodes, each of which a service either follows or not. */
export interface Episodes {
  /** An incident forgets severities that it left. */
  readonly forgets: boolean
  /** Steps begin anew at the end of an acknowledgement, and of a hold under which something was due. */
  readonly begins: boolean
  /** A later step notifies also who knows as much. */
  readonly pages: boolean
  /** Who stays in retry is out of reach. */
  readonly reach: boolean
  /** A repaired receiver is owed what it refused. */
  readonly repairs: boolean
  /** An acknowledgement holds retries. */
  readonly quiets: boolean
}

export const EPISODES: Episodes = {
  forgets: true,
  begins: true,
  pages: true,
  reach: true,
  repairs: true,
  quiets: true,
}

/** Those that the service follows. */
export const IN_FORCE: Episodes = {
  forgets: true,
  begins: true,
  pages: true,
  reach: true,
  repairs: true,
  quiets: true,
}
