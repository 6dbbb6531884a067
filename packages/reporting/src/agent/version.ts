/** The version that heartbeats of an agent state: that of all packages. */
export const AGENT_VERSION = "0.3.0"
