// The flame graph: zoom, cursor, keys and the pointer.
class Graph {
  constructor(actions) {
    this.actions = actions; // select(group), clear(), search(), describe(node)
    this.box = $("graph");
    this.canvas = $("canvas");
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.view = { node: 0, cursor: 0, hover: -1 };
    this.drawn = [];
    this.box.addEventListener("scroll", () => this.schedule());
    this.box.addEventListener("keydown", (event) => this.key(event));
    for (const type of ["focus", "blur"]) this.box.addEventListener(type, () => this.schedule());
    this.canvas.addEventListener("mousemove", (event) => this.point(event));
    this.canvas.addEventListener("mouseleave", () => this.point(null));
    this.canvas.addEventListener("click", (event) => {
      const node = this.at(event);
      if (node < 0) return;
      this.zoom(node);
      if (node) this.actions.select(this.tree.group[node]);
    });
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.recolour();
  }

  // show replaces what is shown; options are groups, reversed and compare.
  show(tree, options) {
    this.tree = tree;
    Object.assign(this.view, { node: 0, cursor: 0, hover: -1, match: null }, options);
    this.view.largest = 0;
    if (options.compare) {
      for (let i = 1; i < tree.size; i++) {
        this.view.largest = Math.max(this.view.largest, Math.abs(differenceOf(tree, i)));
      }
    }
    this.box.scrollTop = 0;
    this.point(null);
    this.resize();
    this.zoom(0);
  }

  // mark shows where groups are; match has a byte for each, or is null. It returns their share.
  // What does not match is dimmed if that is asked for.
  mark(match, dims) {
    const { tree, view } = this;
    Object.assign(view, { match, dims });
    let share = 0;
    if (match) {
      view.matchBelow = new Uint8Array(tree.size);
      for (let i = tree.size - 1; i > 0; i--) {
        if (match[tree.group[i]]) view.matchBelow[i] = 1;
        if (view.matchBelow[i]) view.matchBelow[tree.parent[i]] = 1;
      }
      for (let i = 1; i < tree.size;) {
        const isMatch = match[tree.group[i]];
        if (isMatch) share += tree.weight[0][i] / tree.runs[0].scale;
        i = isMatch ? tree.end[i] : i + 1;
      }
    }
    this.schedule();
    return share;
  }

  zoom(node) {
    this.view.node = this.view.cursor = node;
    this.showPath();
    this.say();
    this.schedule();
  }

  // reveal moves the cursor to a group's widest frame.
  reveal(group) {
    const { tree, view } = this;
    let widest = 0;
    for (let i = 1; i < tree.size; i++) {
      if (tree.group[i] === group && (!widest || tree.value[i] > tree.value[widest])) widest = i;
    }
    if (!widest) return;
    const isInside = widest >= view.node && widest < tree.end[view.node];
    if (!isInside) this.zoom(0);
    this.move(widest);
  }

  move(node) {
    this.view.cursor = node;
    const y = this.tree.level[node] * rowHeight;
    const box = this.box;
    if (y < box.scrollTop) box.scrollTop = y;
    if (y + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = y + rowHeight - box.clientHeight;
    this.say();
    this.schedule();
  }

  say() {
    clear($("status"), ...(this.tree.size > 1 ? this.actions.describe(this.view.cursor) : []));
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { tree, view } = this;
    const at = view.cursor;
    const steps = {
      ArrowUp: () => at && this.move(tree.parent[at]),
      ArrowDown: () => at + 1 < tree.end[at] && this.move(at + 1),
      ArrowLeft: () => this.move(this.neighbour(at, -1)),
      ArrowRight: () => this.move(this.neighbour(at, 1)),
      Home: () => this.move(view.node),
      Enter: () => {
        this.zoom(at);
        if (at) this.actions.select(tree.group[at]);
      },
      Escape: () => {
        if (view.node) {
          this.zoom(0);
          this.move(at);
        } else this.actions.clear();
      },
    };
    if (!steps[event.key]) return;
    event.preventDefault();
    steps[event.key]();
  }

  // neighbour is the next visible frame of the same level, or the frame itself.
  neighbour(from, step) {
    const { tree, view } = this;
    const least = (tree.value[view.node] / (this.width || 1)) * narrowest;
    const isInside = (i) => i > view.node && i < tree.end[view.node];
    for (let i = from + step; isInside(i); i += step) {
      if (tree.level[i] === tree.level[from] && tree.value[i] >= least) return i;
    }
    return from;
  }

  at(event) {
    const edge = this.canvas.getBoundingClientRect();
    const x = event.clientX - edge.left, y = event.clientY - edge.top;
    const isOver = (frame) => y >= frame.y && y < frame.y + rowHeight && x >= frame.x && x < frame.x + frame.width;
    const frame = this.drawn.findLast(isOver);
    return frame ? frame.i : -1;
  }

  point(event) {
    const node = event ? this.at(event) : -1;
    const tip = $("tip");
    if (node !== this.view.hover) {
      this.view.hover = node;
      clear(tip, ...(node >= 0 ? this.actions.describe(node) : []));
      tip.hidden = node < 0;
      this.schedule();
    }
    if (node < 0) return;
    const space = 14;
    const x = Math.min(event.clientX + space, innerWidth - tip.offsetWidth - space);
    const isLow = event.clientY + space + tip.offsetHeight > innerHeight;
    tip.style.left = Math.max(x, space) + "px";
    tip.style.top = (isLow ? event.clientY - space - tip.offsetHeight : event.clientY + space) + "px";
  }

  showPath() {
    const nodes = [];
    for (let i = this.view.node; i >= 0; i = this.tree.parent[i]) nodes.unshift(i);
    const isLong = nodes.length > 6;
    const shownNodes = isLong ? [0, -1, ...nodes.slice(-4)] : nodes;
    clear($("path"), ...shownNodes.map((i) => {
      if (i < 0) return make("span", { className: "gap" }, "…");
      const name = i ? this.view.groups[this.tree.group[i]].name : "all";
      const isLast = i === this.view.node;
      const button = make("button", { type: "button", title: shortened(name, 300), onclick: () => this.zoom(i) }, shortened(name, 60));
      if (isLast) button.setAttribute("aria-current", "true");
      return button;
    }), make("button", { type: "button", id: "reset", hidden: !this.view.node, onclick: () => this.zoom(0) }, "Reset zoom"));
  }

  recolour() {
    this.view.palette = readPalette();
    this.schedule();
  }

  // resize makes the canvas as large as the box, never as high as the tree: browsers limit canvases.
  resize() {
    if (!this.tree) return;
    const ratio = devicePixelRatio || 1;
    this.width = this.box.clientWidth;
    this.height = this.box.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = this.height + "px";
    $("height").style.height = Math.max(0, (this.tree.depth + 1) * rowHeight - this.height) + "px";
    this.draw();
  }

  schedule() {
    if (!this.tree) return;
    this.waiting ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    const begin = performance.now();
    const { context, view, canvas } = this;
    const ratio = canvas.width / (this.width || 1);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "12px " + getComputedStyle(this.box).fontFamily;
    view.hasFocus = document.activeElement === this.box;
    Object.assign(view, { width: this.width, height: this.height, top: this.box.scrollTop });
    this.drawn = drawFrames(context, this.tree, view);
    performance.clearMeasures("draw");
    performance.measure("draw", { start: begin, end: performance.now() });
  }
}
