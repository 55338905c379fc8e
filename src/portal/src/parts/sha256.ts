// sha256.ts - SHA-256; browsers have it only on pages with TLS or of this machine

const ROUNDS = 64;

/* The first 32 bits of the fractions of roots of the first primes. */
function fractions(count: number, root: number): Uint32Array {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++)
    if (![...Array(n).keys()].slice(2).some(i => n % i === 0))
      found.push(n ** (1 / root) % 1 * 2 ** 32);
  return Uint32Array.from(found);
}

const turn = (x: number, by: number) => x >>> by | x << 32 - by;

function mix(state: Uint32Array, words: Uint32Array, constants: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < ROUNDS; i++) {
    const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + constants[i]! + words[i]! | 0;
    const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
    [a, b, c, d, e, f, g, h] = [one + two | 0, a, b, c, d + one | 0, e, f, g];
  }
  [a, b, c, d, e, f, g, h].forEach((value, i) => { state[i]! += value; });
}

/** The hash of a text. */
export function sha256(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const padded = new DataView(new ArrayBuffer((bytes.length + 9 + 63 & ~63)));
  bytes.forEach((byte, i) => padded.setUint8(i, byte));
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(padded.byteLength - 4, bytes.length * 8);
  const constants = fractions(ROUNDS, 3), state = fractions(8, 2), words = new Uint32Array(ROUNDS);
  for (let at = 0; at < padded.byteLength; at += 64) {
    for (let i = 0; i < ROUNDS; i++) {
      const x = words[i - 15] ?? 0, y = words[i - 2] ?? 0;
      words[i] = i < 16 ? padded.getUint32(at + 4 * i)
        : words[i - 16]! + (turn(x, 7) ^ turn(x, 18) ^ x >>> 3) + words[i - 7]! + (turn(y, 17) ^ turn(y, 19) ^ y >>> 10);
    }
    mix(state, words, constants);
  }
  const hash = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => hash.setUint32(4 * i, word));
  return new Uint8Array(hash.buffer);
}
