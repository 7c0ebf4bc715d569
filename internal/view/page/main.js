// The page: what is chosen, and what follows from it.
const runs = data.runs.map((columns) => new Run(columns));
const state = {
  thread: "", event: "0", measure: "samples", reversed: false, merged: false, compare: runs.length > 1, query: "", selected: -1,
};
let used = runs; // of these, those that are shown
let groups = [];
const table = new Table((group) => select(group, true));
const graph = new Graph({
  select: (group) => select(group, false),
  clear: () => {
    $("query").value = "";
    select(-1, false);
    search();
  },
  describe: (node) => describeFrame(graph.tree, groups, node, state.measure === "period" ? unit() : "samples"),
});
const unit = () => runs[0].events[state.event] || "events";

// recompute follows every choice but the search and the selection.
function recompute() {
  const name = state.selected >= 0 ? groups[state.selected].name : null;
  used = state.compare ? runs : runs.slice(0, 1);
  for (const run of used) run.weigh(accepted(run, runs[0], state), state.measure === "period");
  groups = makeGroups(used, state.compare ? "name" : state.merged ? "tiers" : "own");
  setTotals(used, groups);
  const tree = makeTree(used, groups, state.reversed);
  graph.show(tree, { groups, reversed: state.reversed, compare: state.compare });
  $("merged").disabled = state.compare; // by name, all tiers are one
  showLegend(used, groups, state.compare);
  const amount = `${grouped(used[0].all)} ${state.measure === "period" ? unit() : "samples of " + unit()}`;
  $("summary").textContent = state.compare ? `${amount}, compared with ${grouped(used[1].all)}` : amount;
  $("empty").hidden = tree.size > 1;
  $("empty").textContent = runs[0].size ? "The chosen threads have no samples of this event." : "The recording has no samples.";
  state.selected = name === null ? -1 : groups.findIndex((group) => group.name === name && group.total[0] > 0);
  search();
  select(state.selected, false);
}

// search shows what matches; without a query, the selected function.
let waiting = 0;
function search() {
  clearTimeout(waiting);
  state.query = $("query").value.trim();
  const match = matchGroups(groups, state.query);
  table.show(groups, { compare: state.compare, match, selected: state.selected });
  const share = graph.mark(match || only(state.selected), match !== null);
  const count = match ? sum([...match]) : 0;
  const found = `${percent(share)} in ${grouped(count)} ${count === 1 ? "function" : "functions"}`;
  $("matches").textContent = !match ? "" : count ? found : "no match";
}

const only = (group) => (group < 0 ? null : Uint8Array.from(groups, (_, i) => Number(i === group)));

// select shows a function, and with isFound moves the graph to it. -1 is none.
function select(group, isFound) {
  state.selected = group;
  const close = () => {
    select(-1, false);
    graph.box.focus();
  };
  showDetail(used, groups, group, (other) => select(other, true), close);
  table.mark(group);
  if (!state.query) graph.mark(only(group), false);
  if (isFound && group >= 0) graph.reveal(group);
}

$("query").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(search, 80); // not for each letter
});
$("query").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  if (event.key === "Escape") $("query").value = "";
  search();
  graph.box.focus();
});
$("controls").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || hasModifier(event) || event.target.matches("input, select") || $("recording").open) return;
  event.preventDefault();
  $("query").select();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graph.recolour());
for (const type of ["beforeprint", "afterprint"]) {
  addEventListener(type, () => {
    document.documentElement.classList.toggle("printing", type === "beforeprint");
    graph.recolour();
    graph.resize();
  });
}

showRecording();
fillControls(runs[0], state, recompute);
recompute();
performance.mark("first draw");
