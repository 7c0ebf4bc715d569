// The selected function: its shares, callers, callees and source.
const callsAtOnce = 8;

function showDetail(runs, groups, id, select, close) {
  const detail = $("detail");
  detail.hidden = id < 0;
  if (id < 0) return;
  const group = groups[id];
  const calls = relatives(runs, groups, id);
  const heading = make("div", { className: "title" },
    make("h2", { tabIndex: -1 }, make("span", { className: "chip kind-" + kinds[group.kind].toLowerCase(), "aria-hidden": "true" }), ...breakable(shortened(group.name, 1000))),
    make("button", { type: "button", className: "close", title: "Close", "aria-label": "Close", onclick: close }, "×"));
  clear(detail, heading, aboutGroup(runs, group),
    make("div", { className: "calls" }, callList("Callers", calls.callers, select), callList("Callees", calls.callees, select)),
    ...sourceOf(runs[0], groups, group, select));
  detail.scrollTop = 0;
}

function aboutGroup(runs, group) {
  const about = make("p", { className: "about" }, kinds[group.kind], ` · self ${percent(group.self[0])}, total ${percent(group.total[0])}`);
  if (runs.length > 1) about.append(` · before: self ${percent(group.self[1])}, total ${percent(group.total[1])}`);
  if (group.file) about.append(" · ", make("span", { className: "path" }, group.file + (group.line ? ":" + group.line : "")));
  else if (group.object) about.append(" · ", make("span", { className: "path" }, group.object));
  return about;
}

function callList(name, calls, select) {
  const list = make("ul", {});
  const fill = (most) => {
    clear(list, ...calls.slice(0, most).map((call) => {
      const button = functionButton(call.group);
      button.addEventListener("click", () => select(call.group.id));
      const item = make("li", {}, make("span", { className: "number" }, percent(call.share[0])), button);
      if (call.share.length > 1) item.prepend(make("span", { className: "number" }, change(call.share[0] - call.share[1])));
      if (call.inlined > 0) button.append(make("span", { className: "about" }, " inlined"));
      return item;
    }));
    if (calls.length > most) {
      list.append(make("li", {}, make("button", { type: "button", onclick: () => fill(calls.length) }, `${calls.length - most} more`)));
    }
  };
  fill(callsAtOnce);
  if (!calls.length) list.append(make("li", { className: "about" }, "none"));
  return make("div", {}, make("h3", {}, name), list);
}

// describeFrame is what a frame of the tree is, as elements for its tip and the line below the graph.
function describeFrame(tree, groups, node, unit) {
  const shareOf = (r) => percent(tree.weight[r][node] / tree.runs[r].scale);
  const amount = grouped(tree.weight[0][node]) + " " + unit;
  const parts = [];
  let name = "all";
  if (node) {
    const group = groups[tree.group[node]];
    name = shortened(group.name, 300);
    parts.push(kinds[group.kind] + (tree.inlined[node] ? ", inlined" : ""));
  }
  parts.push(`${shareOf(0)} · ${amount}`);
  if (tree.runs.length > 1) parts.push(`before ${shareOf(1)}, ${change(differenceOf(tree, node))} points`);
  if (node) {
    const group = groups[tree.group[node]];
    parts.push(place(group.file, group.line) || group.object);
  }
  return [make("strong", {}, name), ...parts.filter(Boolean).map((part) => make("span", {}, part))];
}
