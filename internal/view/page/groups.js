// A group is one function for the reader. Its key says which functions it has: one tier's; all tiers'
// of a JIT; or, where runs are compared, all of the name.
const firstTier = 3;

function makeGroups(runs, mode) {
  const index = new Map();
  const groups = [];
  runs.forEach((run, r) => {
    const { name, kind, file, line, object } = run.functions;
    run.groupOf = new Int32Array(name.length);
    for (let i = 0; i < name.length; i++) {
      const byName = mode === "name" || (mode === "tiers" && kind[i] >= firstTier);
      const key = byName ? "n" + name[i] : "f" + r + "." + i;
      let group = index.get(key);
      if (group === undefined) {
        group = groups.length;
        index.set(key, group);
        groups.push({ id: group, name: texts[name[i]], most: -1 });
      }
      run.groupOf[i] = group;
    }
    // A group has the kind and the place of its function with the most weight, in the first run that has it.
    const weight = new Float64Array(name.length);
    for (let i = 0; i < run.size; i++) weight[run.function[i]] += run.total[i];
    for (let i = 0; i < name.length; i++) {
      const group = groups[run.groupOf[i]];
      if (weight[i] <= group.most || (group.most > 0 && group.run !== run)) continue;
      Object.assign(group, { run, most: weight[i], kind: kind[i], line: line[i], fileText: file[i] });
      Object.assign(group, { file: texts[file[i]], object: texts[object[i]] });
    }
  });
  return groups;
}
