// Kept, because a test may fake the global ones, which then end nothing.
const { clearTimeout, setTimeout } = globalThis

/** Resolves once the promise does, or with `late` after real time. */
export const within = <A>(millis: number, promise: Promise<A>): Promise<A | "late"> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), millis)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
