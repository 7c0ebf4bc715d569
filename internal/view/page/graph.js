// The flame graph: zoom, cursor, keys and the pointer.
const hasModifier = (event) => event.ctrlKey || event.altKey || event.metaKey;

class Graph {
  constructor(actions) {
    this.actions = actions; // select(group), clear(), describe(node)
    this.box = $("graph");
    this.canvas = $("canvas");
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.view = { node: 0, cursor: 0, hover: -1 };
    this.drawn = [];
    for (const type of ["scroll", "focus", "blur"]) this.box.addEventListener(type, () => this.schedule());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("mousemove", (event) => this.point(event));
    this.canvas.addEventListener("mouseleave", () => this.point(null));
    this.canvas.addEventListener("click", (event) => this.choose(this.at(event)));
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.recolour();
  }

  // show replaces what is shown; options are groups, reversed and compare.
  show(tree, options) {
    this.tree = tree;
    Object.assign(this.view, { node: 0, cursor: 0, hover: -1, match: null, largest: 0 }, options);
    for (let i = 1; options.compare && i < tree.size; i++) {
      this.view.largest = Math.max(this.view.largest, Math.abs(differenceOf(tree, i)));
    }
    this.box.scrollTop = 0;
    this.point(null);
    this.zoom(0);
    this.resize();
  }

  // mark shows where groups are; match has a byte for each, or is null. It returns their share.
  // What does not match is dimmed if that is asked for.
  mark(match, dims) {
    const { tree, view } = this;
    Object.assign(view, { match, dims, matchBelow: new Uint8Array(tree.size) });
    this.schedule();
    if (!match) return 0;
    for (let i = tree.size - 1; i > 0; i--) {
      if (match[tree.group[i]]) view.matchBelow[i] = 1;
      if (view.matchBelow[i]) view.matchBelow[tree.parent[i]] = 1;
    }
    let share = 0;
    for (let i = 1; i < tree.size;) {
      const isMatch = match[tree.group[i]];
      if (isMatch) share += tree.weight[0][i] / tree.runs[0].scale;
      i = isMatch ? tree.end[i] : i + 1;
    }
    return share;
  }

  zoom(node) {
    this.view.node = this.view.cursor = node;
    this.showPath();
    this.move(node);
  }

  // choose zooms to a frame and shows its function.
  choose(node) {
    if (node >= 0) this.zoom(node);
    if (node > 0) this.actions.select(this.tree.group[node]);
  }

  // reveal moves the cursor to a group's widest frame.
  reveal(group) {
    const { tree, view } = this;
    let widest = 0;
    for (let i = 1; i < tree.size; i++) {
      if (tree.group[i] === group && (!widest || tree.value[i] > tree.value[widest])) widest = i;
    }
    if (widest && (widest < view.node || widest >= tree.end[view.node])) this.zoom(0);
    if (widest) this.move(widest);
  }

  // move sets the cursor, scrolls to it, and says what is there.
  move(node) {
    this.view.cursor = node;
    const box = this.box;
    const y = this.tree.level[node] * rowHeight;
    box.scrollTop = Math.max(Math.min(box.scrollTop, y), y + rowHeight - box.clientHeight);
    clear($("status"), ...(this.tree.size > 1 ? this.actions.describe(node) : []));
    this.schedule();
  }

  key(event) {
    const { tree, view } = this;
    const at = view.cursor;
    const leave = () => {
      this.zoom(0);
      this.move(at);
    };
    const steps = {
      ArrowUp: () => this.move(Math.max(tree.parent[at], 0)),
      ArrowDown: () => this.move(at + 1 < tree.end[at] ? at + 1 : at),
      ArrowLeft: () => this.move(this.neighbour(at, -1)),
      ArrowRight: () => this.move(this.neighbour(at, 1)),
      Home: () => this.move(view.node),
      Enter: () => this.choose(at),
      Escape: () => (view.node ? leave() : this.actions.clear()),
    };
    if (hasModifier(event) || !steps[event.key]) return;
    event.preventDefault();
    steps[event.key]();
  }

  // neighbour is the next visible frame of the same level, or the frame itself.
  neighbour(from, step) {
    const { tree, view } = this;
    const least = (tree.value[view.node] / (this.width || 1)) * narrowest;
    for (let i = from + step; i > view.node && i < tree.end[view.node]; i += step) {
      if (tree.level[i] === tree.level[from] && tree.value[i] >= least) return i;
    }
    return from;
  }

  at(event) {
    const edge = this.canvas.getBoundingClientRect();
    const x = event.clientX - edge.left, y = event.clientY - edge.top;
    const isOver = (frame) => y >= frame.y && y < frame.y + rowHeight && x >= frame.x && x < frame.x + frame.width;
    return this.drawn.findLast(isOver)?.i ?? -1;
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
    const isLow = event.clientY + space + tip.offsetHeight > innerHeight;
    tip.style.left = Math.max(Math.min(event.clientX + space, innerWidth - tip.offsetWidth - space), space) + "px";
    tip.style.top = (isLow ? event.clientY - space - tip.offsetHeight : event.clientY + space) + "px";
  }

  // showPath has a button for each frame outside the zoomed one, without those in the middle.
  showPath() {
    let nodes = [];
    for (let i = this.view.node; i >= 0; i = this.tree.parent[i]) nodes.unshift(i);
    if (nodes.length > 6) nodes = [0, -1, ...nodes.slice(-4)];
    const button = (name, i, properties) => make("button",
      { type: "button", title: shortened(name, 300), onclick: () => this.zoom(i), ...properties }, shortened(name, 60));
    clear($("path"), ...nodes.map((i) => {
      if (i < 0) return "…";
      return button(i ? this.view.groups[this.tree.group[i]].name : "all", i, i === this.view.node ? { "aria-current": "true" } : {});
    }), button("Reset zoom", 0, { id: "reset", hidden: !this.view.node }));
  }

  recolour() {
    this.view.palette = readPalette();
    this.schedule();
  }

  // resize makes the canvas as large as the box, never as high as the tree: browsers limit canvases.
  resize() {
    if (!this.tree) return;
    const ratio = devicePixelRatio || 1;
    const tall = (this.tree.depth + 1) * rowHeight;
    this.box.style.setProperty("--tall", Math.max(tall, 120) + "px");
    this.width = this.box.clientWidth;
    this.height = this.box.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = this.height + "px";
    $("height").style.height = Math.max(0, tall - this.height) + "px";
    this.draw();
  }

  schedule() {
    if (this.tree) this.waiting ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    const start = performance.now();
    const { context, view, canvas, width, height } = this;
    const ratio = canvas.width / (width || 1);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "12px " + getComputedStyle(this.box).fontFamily;
    Object.assign(view, { width, height, top: this.box.scrollTop, hasFocus: document.activeElement === this.box });
    this.drawn = drawFrames(context, this.tree, view);
    performance.clearMeasures("draw");
    performance.measure("draw", { start, end: performance.now() });
  }
}
