/**
 * The header field by which a heartbeat names the process of its agent (docs/rules.md#two-agents-with-one-key).
 * Servers that do not know it ignore it.
 */
export const PROCESS_FIELD = "tocsin-process"

const PROCESS_ID = /^[0-9a-f]{16}$/

/** Whether a text has the form of an ID of a process: 8 random bytes as hexadecimal digits. */
export const isProcessId = (text: string): boolean => PROCESS_ID.test(text)
