/** The numbers from 0 on, so many of them. */
export const range = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, n) => n)

/** All of them together. */
export const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, n) => total + n, 0)
