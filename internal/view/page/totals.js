// Sums over stacks. A sample counts once for a function, however often the function calls itself.

// setTotals sets self and total of each group, for each run, as shares.
function setTotals(runs, groups) {
  for (const group of groups) Object.assign(group, { self: runs.map(() => 0), total: runs.map(() => 0) });
  runs.forEach((run, r) => {
    const onPath = new Int32Array(groups.length);
    run.walk((i) => {
      const group = groups[run.groupOf[run.function[i]]];
      group.self[r] += run.own[i] / run.scale;
      if (onPath[group.id]++ === 0) group.total[r] += run.total[i] / run.scale;
    }, (i) => onPath[run.groupOf[run.function[i]]]--);
  });
}

// relatives returns the callers and callees of a group, widest first: the share of the samples that
// have the call.
function relatives(runs, groups, id) {
  const callers = new Map(), callees = new Map();
  runs.forEach((run, r) => {
    const groupOf = (i) => (i < 0 ? -1 : run.groupOf[run.function[i]]);
    const each = (i, step) => {
      const own = groupOf(i), caller = groupOf(run.parent[i]);
      if (own === id && caller >= 0) step(callers, caller, i);
      if (caller === id) step(callees, own, i);
    };
    run.walk((i) => each(i, (map, other) => {
      if (!map.has(other)) map.set(other, { group: groups[other], share: runs.map(() => 0), onPath: 0, inlined: 0 });
      const call = map.get(other);
      if (call.onPath++ > 0) return;
      call.share[r] += run.total[i] / run.scale;
      if (run.inlined[i]) call.inlined += run.total[i] / run.scale;
    }), (i) => each(i, (map, other) => map.get(other).onPath--));
  });
  const widest = (map) => [...map.values()].filter((call) => sum(call.share) > 0).sort((a, b) => sum(b.share) - sum(a.share));
  return { callers: widest(callers), callees: widest(callees) };
}

const sum = (list) => list.reduce((a, b) => a + b, 0);

// linesOf returns the shares of a group's lines in its file, and the calls inlined there.
function linesOf(run, groups, group) {
  const lines = new Map();
  const isHere = (i) => groups[run.groupOf[run.function[i]]] === group &&
    run.functions.file[run.function[i]] === group.fileText;
  run.walk((i) => {
    const caller = run.parent[i];
    if (run.inlined[i] && caller >= 0 && isHere(caller) && run.total[i]) {
      const inlined = lines.get(run.line[caller]).inlined;
      const id = run.groupOf[run.function[i]];
      inlined.set(id, (inlined.get(id) || 0) + run.total[i] / run.scale);
    }
    if (!isHere(i)) return;
    if (!lines.has(run.line[i])) lines.set(run.line[i], { self: 0, total: 0, onPath: 0, inlined: new Map() });
    const line = lines.get(run.line[i]);
    line.self += run.own[i] / run.scale;
    if (line.onPath++ === 0) line.total += run.total[i] / run.scale;
  }, (i) => {
    if (isHere(i)) lines.get(run.line[i]).onPath--;
  });
  for (const [number, line] of lines) if (!line.total) lines.delete(number);
  return lines;
}
