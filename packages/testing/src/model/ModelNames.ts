/** Agent ids; in another order by their bytes than in a dictionary. */
export const AGENTS = ["a", "B", "a-1", "A.1"] as const
export const CHECKS = ["disk", "CPU", "__proto__"] as const

/** Whose key signs: the agent's own, its next ones, that of another agent, or one that is accepted on sight. */
export const KEYS = ["own", "next", "third", "of another", "listed"] as const

export type AgentName = (typeof AGENTS)[number]
export type CheckName = (typeof CHECKS)[number]
export type KeyName = (typeof KEYS)[number]
