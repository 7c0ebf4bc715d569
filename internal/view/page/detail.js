// The selected function: its shares, callers, callees and source.
const callsAtOnce = 5;

function showDetail(runs, groups, id, select, close) {
  const detail = $("detail");
  detail.hidden = id < 0;
  if (id < 0) return;
  const group = groups[id];
  const calls = relatives(runs, groups, id);
  const heading = make("div", { className: "title" },
    make("h2", { tabIndex: -1 }, chip(kindClass(group.kind)), ...breakable(shortened(group.name, 1000))),
    make("button", { type: "button", className: "close", title: "Close", "aria-label": "Close", onclick: close }, "×"));
  clear(detail, heading, aboutGroup(runs, group),
    make("div", { className: "calls" }, callList("Callers", calls.callers, select), callList("Callees", calls.callees, select)),
    ...sourceOf(runs[0], groups, group, select));
  detail.scrollTop = 0;
}

function aboutGroup(runs, group) {
  const about = make("p", { className: "about" }, kinds[group.kind], ` · self ${percent(group.self[0])}, total ${percent(group.total[0])}`);
  if (runs.length > 1) about.append(` · before: self ${percent(group.self[1])}, total ${percent(group.total[1])}`);
  const path = group.file ? group.file + (group.line ? ":" + group.line : "") : group.object;
  if (path) about.append(" · ", make("span", { className: "path" }, path));
  return about;
}

function callList(name, calls, select) {
  const list = make("ul", {});
  const fill = (most) => {
    clear(list, ...calls.slice(0, most).map((call) => {
      const button = functionButton(call.group, { onclick: () => select(call.group.id) });
      const numbers = [percent(call.share[0])];
      if (call.share.length > 1) numbers.push(change(call.share[0] - call.share[1]));
      if (call.inlined > 0) button.append(make("span", { className: "about" }, " inlined"));
      return make("li", {}, ...numbers.map((text) => make("span", { className: "number" }, text)), button);
    }));
    const more = { type: "button", onclick: () => fill(calls.length) };
    if (calls.length > most) list.append(make("li", {}, make("button", more, `${calls.length - most} more`)));
  };
  fill(callsAtOnce);
  if (!calls.length) list.append(make("li", { className: "about" }, "none"));
  return make("div", {}, make("h3", {}, name), list);
}

// describeFrame is what a frame of the tree is, as elements for its tip and the line below the graph.
function describeFrame(tree, groups, node, unit) {
  const group = node ? groups[tree.group[node]] : { name: "all" };
  const amount = tree.weight[0][node];
  const shareOf = (r) => percent(tree.weight[r][node] / tree.runs[r].scale);
  const parts = [
    node && kinds[group.kind] + (tree.inlined[node] ? ", inlined" : ""),
    `${shareOf(0)} · ${grouped(amount)} ${amount === 1 ? unit.replace(/^samples$/, "sample") : unit}`,
    tree.runs.length > 1 && `before ${shareOf(1)}, ${change(differenceOf(tree, node))} points`,
    node && placeOf(group),
  ];
  return [make("strong", {}, shortened(group.name, 300)), ...parts.filter(Boolean).map((part) => make("span", {}, part))];
}
