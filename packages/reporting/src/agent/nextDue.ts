/** The first period that begins after `steady`: periods that were missed run once, not each. */
export const nextDue = (due: number, everyMillis: number, steady: number): number =>
  due > steady ? due : due + everyMillis * (1 + Math.floor((steady - due) / everyMillis))
