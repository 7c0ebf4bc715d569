// A run is a profile: its stacks as a tree in preorder, and its samples.
class Run {
  constructor(columns) {
    Object.assign(this, columns);
    const size = (this.size = this.nodes.function.length);
    this.function = new Int32Array(size);
    this.inlined = new Uint8Array(size);
    this.depth = new Int32Array(size);
    this.parent = new Int32Array(size);
    const path = [];
    let depth = -1;
    for (let i = 0; i < size; i++) {
      depth += 1 - this.nodes.up[i];
      path[depth] = i;
      this.depth[i] = depth;
      this.parent[i] = depth ? path[depth - 1] : -1;
      this.function[i] = this.nodes.function[i] >> 1;
      this.inlined[i] = this.nodes.function[i] & 1;
    }
    this.line = this.nodes.line;
    let node = 0;
    this.row = this.samples.node.map((difference) => (node += difference));
  }

  // sum adds up the samples by index, such as their thread or their event.
  sum(index) {
    const sums = [];
    this.samples.count.forEach((count, row) => {
      const at = index(row);
      sums[at] = (sums[at] || 0) + count;
    });
    return sums;
  }

  // weigh sets each node's own weight, and its weight with all below it, of the accepted rows.
  weigh(accepts, byPeriod) {
    const weights = byPeriod ? this.samples.period : this.samples.count;
    this.own = new Float64Array(this.size);
    this.all = 0;
    for (let row = 0; row < this.row.length; row++) {
      if (!accepts(row)) continue;
      this.own[this.row[row]] += weights[row];
      this.all += weights[row];
    }
    this.total = this.own.slice();
    for (let i = this.size - 1; i >= 0; i--) {
      if (this.parent[i] >= 0) this.total[this.parent[i]] += this.total[i];
    }
    // Shares are what is compared.
    this.scale = this.all || 1;
  }

  // walk calls enter and leave for the nodes that have weight, callers first.
  walk(enter, leave) {
    const path = [];
    for (let i = 0; i < this.size; i++) {
      while (path.length > this.depth[i]) leave(path.pop());
      path.push(i);
      enter(i);
    }
    while (path.length) leave(path.pop());
  }
}
