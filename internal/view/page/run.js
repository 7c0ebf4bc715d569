// A run is a profile: its stacks as a tree in preorder, and its samples.
class Run {
  constructor(columns) {
    Object.assign(this, columns);
    const { up, line } = this.nodes;
    this.size = line.length;
    this.line = line;
    this.function = this.nodes.function.map((f) => f >> 1);
    this.inlined = this.nodes.function.map((f) => f & 1);
    let depth = -1;
    this.depth = up.map((levels) => (depth += 1 - levels));
    const path = [];
    this.parent = this.depth.map((depth, i) => {
      path[depth] = i;
      return depth ? path[depth - 1] : -1;
    });
    let node = 0;
    this.row = this.samples.node.map((difference) => (node += difference));
  }

  // sum adds up the samples of each index of a column, such as their thread or their event.
  sum(column, size) {
    const sums = new Array(size).fill(0);
    this.samples.count.forEach((count, row) => (sums[column[row]] += count));
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
    this.scale = this.all || 1; // of shares
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
