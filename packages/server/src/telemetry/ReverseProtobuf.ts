const VARINT = 0
const FIXED_64 = 1
const LENGTH_DELIMITED = 2

const MORE = 0x80
const BITS = 0x7f
const FIXED_64_BYTES = 8

/**
 * Writes a message of Protocol Buffers into one buffer, from its end to its start: the length of a
 * nested message is then known when it is due.
 */
export class ReverseProtobuf {
  #bytes: Buffer
  #start: number

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size)
    this.#start = size
  }

  /** What was written, in the order of reading. Valid until the next write. */
  written(): Uint8Array {
    return this.#bytes.subarray(this.#start)
  }

  string(field: number, text: string): void {
    this.#delimit(field, this.#ascii(text) ?? this.#utf8(text))
  }

  /** Writes ASCII, which most texts are, in half the time of Buffer's two calls. Writes nothing of other texts. */
  #ascii(text: string): number | undefined {
    const { length } = text
    this.#make(length)
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index)
      if (code > BITS) {
        this.#start += length
        return undefined
      }
      this.#bytes[this.#start + index] = code
    }
    return length
  }

  #utf8(text: string): number {
    const length = Buffer.byteLength(text)
    this.#make(length)
    return this.#bytes.write(text, this.#start, length, "utf8")
  }

  hex(field: number, digits: string): void {
    const length = digits.length / 2
    this.#make(length)
    this.#bytes.write(digits, this.#start, length, "hex")
    this.#delimit(field, length)
  }

  fixed64(field: number, value: bigint): void {
    this.#make(FIXED_64_BYTES)
    this.#bytes.writeBigUInt64LE(value, this.#start)
    this.#varint((field << 3) | FIXED_64)
  }

  double(field: number, value: number): void {
    this.#make(FIXED_64_BYTES)
    this.#bytes.writeDoubleLE(value, this.#start)
    this.#varint((field << 3) | FIXED_64)
  }

  /** A whole number that is not negative. */
  integer(field: number, value: number): void {
    this.#varint(value)
    this.#varint((field << 3) | VARINT)
  }

  /** A nested message. `write` writes its last field first. */
  message(field: number, write: () => void): void {
    const end = this.#bytes.length - this.#start
    write()
    this.#delimit(field, this.#bytes.length - this.#start - end)
  }

  #delimit(field: number, length: number): void {
    this.#varint(length)
    this.#varint((field << 3) | LENGTH_DELIMITED)
  }

  #varint(value: number): void {
    let length = 1
    for (let rest = value; rest > BITS; rest = Math.floor(rest / MORE)) length += 1
    this.#make(length)
    let rest = value
    for (let index = this.#start; rest > BITS; index += 1) {
      this.#bytes[index] = (rest % MORE) | MORE
      rest = Math.floor(rest / MORE)
    }
    this.#bytes[this.#start + length - 1] = rest
  }

  /** Makes room for so many bytes before those written. */
  #make(length: number): void {
    if (length > this.#start) {
      const used = this.#bytes.length - this.#start
      const larger = Buffer.allocUnsafe(2 * (used + length))
      this.#bytes.copy(larger, larger.length - used, this.#start)
      this.#start = larger.length - used
      this.#bytes = larger
    }
    this.#start -= length
  }
}
