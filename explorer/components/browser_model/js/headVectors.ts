/** Vectors of all heads, one for each position: (H, capacity, K), of which `length` are filled. */
export class HeadVectors {
  heads: number;
  width: number;
  capacity: number;
  length: number;
  values: Float32Array<ArrayBuffer>;

  /**
   * @param width of one head, K
   * @param capacity positions that there is room for
   * @param length positions filled
   */
  constructor(heads: number, width: number, capacity: number, length = 0) {
    this.heads = heads;
    this.width = width;
    this.capacity = capacity;
    this.length = length;
    this.values = new Float32Array(heads * capacity * width);
  }

  /** The heads of one of `parts` concatenated vectors, `x` (rows, parts · H · K). */
  static split(x: Float32Array, rows: number, heads: number, parts: number, part: number) {
    const width = x.length / rows / parts / heads;
    const split = new HeadVectors(heads, width, rows);
    split.append(x, rows, parts, part);
    return split;
  }

  /** Add the vectors of `rows` further positions, from `x` as in `split`. */
  append(x: Float32Array, rows: number, parts: number, part: number) {
    const all = this.heads * this.width;
    for (let head = 0; head < this.heads; head++) {
      for (let row = 0; row < rows; row++) {
        const from = (row * parts + part) * all + head * this.width;
        const to = (head * this.capacity + this.length + row) * this.width;
        for (let index = 0; index < this.width; index++) {
          this.values[to + index] = x[from + index];
        }
      }
    }
    this.length += rows;
  }

  /** The same without room for more, so that `values` is (H, length, K). */
  filled() {
    if (this.length === this.capacity) return this;
    const { heads, width, length, capacity } = this;
    const filled = new HeadVectors(heads, width, length, length);
    for (let head = 0; head < heads; head++) {
      const start = head * capacity * width;
      filled.values.set(this.values.subarray(start, start + length * width), head * length * width);
    }
    return filled;
  }

  /** The heads side by side: (length, H · K). */
  joined() {
    const all = this.heads * this.width;
    const joined = new Float32Array(this.length * all);
    for (let head = 0; head < this.heads; head++) {
      for (let row = 0; row < this.length; row++) {
        const start = (head * this.capacity + row) * this.width;
        const own = this.values.subarray(start, start + this.width);
        joined.set(own, row * all + head * this.width);
      }
    }
    return joined;
  }
}
