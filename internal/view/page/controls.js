// The controls above the graph: which threads, which event, and how they are shown.
const threadsListed = 200;

// fillControls makes the choices, and calls change after one was made.
function fillControls(run, state, change) {
  const option = (value, text) => make("option", { value }, text);
  const select = (id, name, choices) => {
    const element = clear($(id), ...choices);
    element.value = state[name];
    element.closest("label").hidden = element.options.length < 2;
    element.addEventListener("change", () => {
      state[name] = element.value;
      change();
    });
  };
  const events = run.sum((row) => run.samples.event[row]);
  state.event = String(run.events.reduce((best, _, i) => ((events[i] || 0) > (events[best] || 0) ? i : best), 0));
  select("events", "event", run.events.map((name, i) => option(String(i), `${shortened(name, 40)} (${grouped(events[i] || 0)})`)));
  select("threads", "thread", threadChoices(run, option));
  select("measure", "measure", [option("samples", "by samples"), option("period", "by event counts")]);
  for (const name of ["reversed", "merged", "compare"]) {
    const button = $(name);
    button.setAttribute("aria-pressed", String(state[name]));
    button.addEventListener("click", () => {
      state[name] = !state[name];
      button.setAttribute("aria-pressed", String(state[name]));
      change();
    });
  }
  $("compare").hidden = data.runs.length < 2;
  const tiers = new Set(run.functions.kind.filter((kind) => kind >= firstTier));
  $("merged").hidden = tiers.size < 2;
}

// threadChoices lists processes by samples, and the threads of each.
function threadChoices(run, option) {
  const { pid, tid, process, name } = run.threads;
  const samples = run.sum((row) => run.samples.thread[row]);
  const processes = new Map();
  pid.forEach((id, thread) => {
    if (!samples[thread]) return;
    if (!processes.has(id)) processes.set(id, { id, name: texts[process[thread]], samples: 0, threads: [] });
    processes.get(id).samples += samples[thread];
    processes.get(id).threads.push(thread);
  });
  const bySamples = (a, b) => samples[b] - samples[a];
  const choices = [option("", "all threads")];
  let left = threadsListed;
  for (const { id, name: processName, samples: all, threads } of [...processes.values()].sort((a, b) => b.samples - a.samples)) {
    if (processes.size === 1 && threads.length === 1) break;
    const group = make("optgroup", { label: `${shortened(processName, 30) || "process"} ${id}` });
    if (processes.size > 1) group.append(option("p" + id, `${shortened(processName, 30) || "process"} ${id}: all (${grouped(all)})`));
    if (threads.length > 1) {
      for (const thread of threads.sort(bySamples).slice(0, Math.max(0, left))) {
        left--;
        group.append(option("t" + thread, `${shortened(texts[name[thread]], 30) || "thread"} ${tid[thread]} (${grouped(samples[thread])})`));
      }
    }
    choices.push(group);
  }
  return choices;
}

// accepted returns which rows of a run are chosen. The other run has other threads: those of the
// same names are compared.
function accepted(run, main, state) {
  const { pid, process, name } = run.threads;
  const chosen = Number(state.thread.slice(1));
  let isThread = () => true;
  if (run === main && state.thread[0] === "p") isThread = (thread) => pid[thread] === chosen;
  else if (run === main && state.thread[0] === "t") isThread = (thread) => thread === chosen;
  else if (state.thread) {
    const first = state.thread[0] === "t" ? chosen : main.threads.pid.indexOf(chosen);
    isThread = (thread) => process[thread] === main.threads.process[first] &&
      (state.thread[0] === "p" || name[thread] === main.threads.name[first]);
  }
  let event = Number(state.event);
  if (run !== main) event = run.events.length === 1 ? 0 : run.events.indexOf(main.events[event]);
  return (row) => run.samples.event[row] === event && isThread(run.samples.thread[row]);
}

// matchGroups returns a byte for each group whose name or file has the query, null for no query.
function matchGroups(groups, query) {
  if (!query) return null;
  let isMatch = (text) => text.toLowerCase().includes(query.toLowerCase());
  const pattern = /^\/(.+)\/$/.exec(query);
  if (pattern) {
    try {
      const expression = new RegExp(pattern[1], "i");
      isMatch = (text) => expression.test(text);
    } catch { /* not yet complete: a text */ }
  }
  return Uint8Array.from(groups, (group) => (isMatch(group.name) || isMatch(group.file || "") ? 1 : 0));
}

// fillTabs switches between the panel's two pages.
function fillTabs() {
  const tabs = [$("tab-functions"), $("tab-recording")];
  const open = (tab) => tabs.forEach((other) => {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = other !== tab;
  });
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      open(tabs[1 - i]);
      tabs[1 - i].focus();
    });
  });
  return open;
}
