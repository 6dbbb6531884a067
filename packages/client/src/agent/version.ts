/** The version that heartbeats state: that of the package. */
export const AGENT_VERSION = "0.1.0"
