// The table of functions.
const rowsAtOnce = 200;

class Table {
  constructor(select) {
    this.select = select;
  }

  // show lists the groups that have samples and match.
  show(groups, { compare, match, selected }) {
    Object.assign(this, { groups, compare, match, selected, rows: rowsAtOnce });
    $("table").className = compare ? "compared" : "";
    const share = (key, name, hint) => ({ key, name, hint, value: (g) => g[key][0], text: percent });
    const gain = (key, spoken) => ({ key: key + "-change", name: "±", spoken, hint: spoken + ", in points",
      value: (g) => g[key][0] - g[key][1], text: change });
    this.columns = [
      share("self", "Self", "Share of samples in the function itself"),
      ...(compare ? [gain("self", "Change of self")] : []),
      share("total", "Total", "Share of samples in the function and in what it calls"),
      ...(compare ? [gain("total", "Change of total")] : []),
      { key: "name", name: "Function", value: (g) => g.name },
    ];
    if (!this.columns.some((column) => column.key === this.sort?.key)) {
      this.sort = { key: compare ? "self-change" : "self", isUp: false };
    }
    this.fill();
  }

  fill() {
    const { value, text } = this.columns.find((column) => column.key === this.sort.key);
    const direction = this.sort.isUp ? 1 : -1;
    const size = (g) => Math.round(Math.abs(value(g)) * 1e9); // of a change either way
    const order = (a, b) => (text ? size(a) - size(b) : value(a) < value(b) ? -1 : 1);
    this.listed = this.groups
      .filter((g) => (g.total[0] > 0 || g.total[1] > 0) && (!this.match || this.match[g.id]))
      .sort((a, b) => direction * order(a, b) || b.total[0] - a.total[0] || a.id - b.id);
    clear($("table").tHead, make("tr", {}, ...this.columns.map((column) => this.header(column))));
    clear($("table").tBodies[0], ...this.listed.slice(0, this.rows).map((group) => this.row(group)));
    const left = this.listed.length - this.rows;
    const more = () => {
      this.rows *= 5;
      this.fill();
    };
    if (left > 0) clear($("more"), make("button", { type: "button", onclick: more }, "Show more"), ` of ${grouped(left)} others`);
    else clear($("more"), this.listed.length ? "" : this.match ? "No function matches." : "No function has samples.");
  }

  header({ key, name, hint, spoken }) {
    const isSorted = this.sort.key === key;
    const sort = () => {
      this.sort = { key, isUp: isSorted ? !this.sort.isUp : key === "name" };
      this.fill();
      $("table").querySelector(`th.${key} button`).focus();
    };
    const direction = !isSorted ? "none" : this.sort.isUp ? "ascending" : "descending";
    return make("th", { scope: "col", className: key, "aria-sort": direction },
      make("button", { type: "button", title: hint || "", "aria-label": spoken || name, onclick: sort }, name));
  }

  row(group) {
    const row = make("tr", { onclick: () => this.select(group.id) }, ...this.columns.map(({ value, text }) => {
      if (!text) return this.name(group);
      const kind = text !== change || Math.abs(value(group)) < 0.0005 ? "" : value(group) > 0 ? " more" : " less";
      return make("td", { className: "number" + kind }, text(value(group)));
    }));
    if (group.id === this.selected) row.setAttribute("aria-current", "true");
    return row;
  }

  name(group) {
    const where = placeOf(group);
    const about = make("span", { className: "about", title: group.file || group.object }, kinds[group.kind], where && " · " + where);
    return make("td", { className: "name" }, functionButton(group), this.compare ? "" : about);
  }

  // mark shows which group is selected.
  mark(selected) {
    this.selected = selected;
    [...$("table").tBodies[0].rows].forEach((row, i) => {
      row.removeAttribute("aria-current");
      if (this.listed[i].id !== selected) return;
      row.setAttribute("aria-current", "true");
      row.scrollIntoView({ block: "nearest" });
    });
  }
}

// functionButton has a group's colour and name. A click on it bubbles to what has it.
function functionButton(group, properties) {
  return make("button", { type: "button", className: "function", title: shortened(group.name, 1000), ...properties },
    chip(kindClass(group.kind)), make("span", {}, ...breakable(shortened(group.name, 200))));
}
