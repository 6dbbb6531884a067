import type { Labels } from "@tocsin/contract/Labels"

const NONE: Labels = {}

/** The labels that matchers compare: those of the check, and of its agent where the check has no such name. */
export const mergeLabels = (ofAgent: Labels = NONE, ofCheck: Labels | undefined): Labels =>
  ofCheck === undefined ? ofAgent : { ...ofAgent, ...ofCheck }
