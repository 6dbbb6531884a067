/** Codewords of versions 1 to 10: all, those of error correction a block, and blocks, at level L (ISO/IEC 18004). */
const VERSIONS = [
  [26, 7, 1],
  [44, 10, 1],
  [70, 15, 1],
  [100, 20, 1],
  [134, 26, 1],
  [172, 18, 2],
  [196, 20, 2],
  [242, 24, 2],
  [292, 30, 2],
  [346, 18, 4],
] as const

/** The product of two numbers of the field with 256 elements. */
const times = (a: number, b: number): number => {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d)
    product ^= ((b >>> bit) & 1) * a
  }
  return product
}

/** The codewords that correct errors of others (Reed and Solomon). */
const correcting = (data: ReadonlyArray<number>, count: number): ReadonlyArray<number> => {
  let divisor: Array<number> = [1]
  for (let root = 1, n = 0; n < count; n++, root = times(root, 2))
    divisor = [...divisor, 0].map((one, at) => one ^ times(divisor[at - 1] ?? 0, root))
  const rest = [...data, ...Array.from({ length: count }, () => 0)]
  for (let at = 0; at < data.length; at++) {
    const factor = rest[at] ?? 0
    divisor.forEach((one, n) => (rest[at + n] = (rest[at + n] ?? 0) ^ times(one, factor)))
  }
  return rest.slice(data.length)
}

const bitsOf = (value: number, length: number): ReadonlyArray<number> =>
  Array.from({ length }, (_, n) => (value >>> (length - 1 - n)) & 1)

/** A value followed by what is left of its division, which corrects errors in it. */
const checked = (value: number, divisor: number, length: number): number => {
  let rest = value
  for (let n = 0; n < length; n++) rest = (rest << 1) ^ ((rest >>> (length - 1)) * divisor)
  return (value << length) | rest
}

/** All codewords of a text, its blocks interleaved; `undefined` if it is too long. */
const codewordsOf = (text: string) => {
  const bytes = new TextEncoder().encode(text)
  const capacityOf = ([all, each, blocks]: (typeof VERSIONS)[number]) => all - each * blocks
  const index = VERSIONS.findIndex((one, n) => bytes.length + (n < 9 ? 2 : 3) <= capacityOf(one))
  const version = VERSIONS[index]
  if (version === undefined) return undefined
  const [all, each, blocks] = version
  const bits = [0, 1, 0, 0, ...bitsOf(bytes.length, index < 9 ? 8 : 16)]
  for (const byte of bytes) bits.push(...bitsOf(byte, 8))
  const data: Array<number> = []
  bits.push(0, 0, 0, 0)
  for (let at = 0; at + 8 <= bits.length; at += 8)
    data.push(bits.slice(at, at + 8).reduce((sum, bit) => sum * 2 + bit, 0))
  for (let pad = 0xec; data.length < capacityOf(version); pad ^= 0xfd) data.push(pad)
  const short = blocks - (all % blocks)
  const size = Math.floor(all / blocks) - each
  const parts = Array.from({ length: blocks }, (_, n) => {
    const from = n * size + Math.max(0, n - short)
    return data.slice(from, from + size + (n < short ? 0 : 1))
  })
  const checks = parts.map((part) => correcting(part, each))
  const woven = (lists: ReadonlyArray<ReadonlyArray<number>>, length: number) =>
    Array.from({ length }, (_, n) => lists.flatMap((list) => list[n] ?? [])).flat()
  return { version: index + 1, codewords: [...woven(parts, size + 1), ...woven(checks, each)] }
}

/** The squares of a QR code of at most 271 bytes, row by row: whether each is dark. */
export const qrCode = (text: string): ReadonlyArray<ReadonlyArray<boolean>> | undefined => {
  const made = codewordsOf(text)
  if (made === undefined) return undefined
  const { codewords, version } = made
  const size = version * 4 + 17
  const squares: Array<Array<number | undefined>> = Array.from({ length: size }, () =>
    Array.from({ length: size }, () => undefined),
  )
  const put = (x: number, y: number, dark: number): void => {
    const row = squares[y]
    if (row !== undefined && x >= 0 && x < size) row[x] = dark
  }
  for (let n = 0; n < size; n++) {
    put(6, n, (n + 1) % 2)
    put(n, 6, (n + 1) % 2)
  }
  const ring = (x: number, y: number, reach: number, light: ReadonlyArray<number>): void => {
    for (let dy = -reach; dy <= reach; dy++)
      for (let dx = -reach; dx <= reach; dx++)
        put(x + dx, y + dy, light.includes(Math.max(Math.abs(dx), Math.abs(dy))) ? 0 : 1)
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    ring(x, y, 4, [2, 4])
  const last = size - 7
  const centres = version === 1 ? [] : version < 7 ? [6, last] : [6, 6 + (last - 6) / 2, last]
  for (const x of centres)
    for (const y of centres)
      if (!(x === 6 && y === 6) && !(x === 6 && y === last) && !(x === last && y === 6)) ring(x, y, 2, [1])
  // Level L, and the mask by which every other square is turned.
  const format = bitsOf(checked(0b01000, 0x537, 10) ^ 0x5412, 15).toReversed()
  format.forEach((bit, n) => {
    put(8, n < 6 ? n : n < 8 ? n + 1 : size - 15 + n, bit)
    put(n < 8 ? size - 1 - n : n === 8 ? 7 : 14 - n, 8, bit)
  })
  put(8, size - 8, 1)
  if (version >= 7)
    bitsOf(checked(version, 0x1f25, 12), 18)
      .toReversed()
      .forEach((bit, n) => {
        const [a, b] = [size - 11 + (n % 3), Math.floor(n / 3)]
        put(a, b, bit)
        put(b, a, bit)
      })
  const bits = codewords.flatMap((word) => bitsOf(word, 8))
  let next = 0
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    for (let step = 0; step < size; step++)
      for (const x of [right, right - 1]) {
        const y = ((right + 1) & 2) === 0 ? size - 1 - step : step
        if (squares[y]?.[x] === undefined) put(x, y, (bits[next++] ?? 0) ^ ((x + y + 1) % 2))
      }
  }
  return squares.map((row) => row.map((dark) => dark === 1))
}
