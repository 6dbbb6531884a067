/** What a test message says to people. */
export const testText = "TEST: Tocsin reaches you here. Nothing is wrong."
