// A tree is what the graph shows: frames of the same function with the same callers are one. Its
// arrays are in preorder, the widest first; the first is the root. weight has each run's.
function makeTree(runs, groups, reversed) {
  const tree = { group: [-1], inlined: [0], parent: [-1], weight: runs.map((run) => [run.all]) };
  const index = new Map();
  const keys = 2 * groups.length;
  const child = (parent, run, i) => {
    const key = 2 * run.groupOf[run.function[i]] + run.inlined[i];
    let node = index.get(parent * keys + key);
    if (node === undefined) {
      node = tree.group.length;
      index.set(parent * keys + key, node);
      tree.group.push(key >> 1);
      tree.inlined.push(key & 1);
      tree.parent.push(parent);
      for (const weight of tree.weight) weight.push(0);
    }
    return node;
  };
  runs.forEach((run, r) => (reversed ? growReversed : grow)(run, tree.weight[r], child));
  return inPreorder(tree, runs, groups);
}

function grow(run, weight, child) {
  const at = new Int32Array(run.size);
  for (let i = 0; i < run.size; i++) {
    if (!run.total[i]) continue;
    at[i] = child(run.parent[i] < 0 ? 0 : at[run.parent[i]], run, i);
    weight[at[i]] += run.total[i];
  }
}

// growReversed goes from where samples were taken to the callers, all at the same pace. What is
// narrower than a hair of the whole is not followed: reversed stacks share little.
function growReversed(run, weight, child) {
  const hair = run.all / 20000;
  let paths = [];
  for (let i = 0; i < run.size; i++) {
    if (run.own[i]) paths.push({ i, node: 0, weight: run.own[i] });
  }
  while (paths.length) {
    for (const path of paths) {
      path.node = child(path.node, run, path.i);
      weight[path.node] += path.weight;
      path.i = run.parent[path.i];
    }
    paths = paths.filter((path) => path.i >= 0 && weight[path.node] >= hair);
  }
}

function inPreorder(from, runs, groups) {
  const size = from.group.length;
  const value = new Float64Array(size);
  for (let r = 0; r < runs.length; r++) {
    const scale = runs.length > 1 ? runs[r].scale : 1;
    for (let i = 0; i < size; i++) value[i] += from.weight[r][i] / scale;
  }
  const children = [];
  for (let i = 1; i < size; i++) (children[from.parent[i]] ||= []).push(i);
  const byWidth = (a, b) => value[b] - value[a] || (groups[from.group[a]].name < groups[from.group[b]].name ? -1 : 1);
  const tree = { size, depth: 0, runs, weight: runs.map(() => new Float64Array(size)) };
  for (const name of ["group", "inlined", "level", "parent", "end"]) tree[name] = new Int32Array(size);
  for (const name of ["value", "left", "right"]) tree[name] = new Float64Array(size);
  tree.parent[0] = -1;
  const place = new Int32Array(size);
  const waiting = [0];
  for (let i = 0; i < size; i++) {
    const old = waiting.pop();
    place[old] = i;
    tree.group[i] = from.group[old];
    tree.inlined[i] = from.inlined[old];
    tree.value[i] = value[old];
    tree.weight.forEach((weight, r) => (weight[i] = from.weight[r][old]));
    if (i) {
      const parent = (tree.parent[i] = place[from.parent[old]]);
      tree.level[i] = tree.level[parent] + 1;
      tree.depth = Math.max(tree.depth, tree.level[i]);
    }
    if (children[old]) waiting.push(...children[old].sort(byWidth).reverse());
  }
  // left is where the sibling before ended, right where the last child does; end is the first frame
  // after all those below.
  for (let i = 1; i < size; i++) {
    const parent = tree.parent[i];
    tree.left[i] = tree.right[i] = tree.right[parent];
    tree.right[parent] += tree.value[i];
  }
  for (let i = size - 1; i >= 0; i--) {
    tree.end[i] ||= i + 1;
    if (i) tree.end[tree.parent[i]] ||= tree.end[i]; // that of the last child
  }
  return tree;
}
