// A hundred thousand points on a canvas: panned, zoomed, pointed at, some of them lit.
//
// They are written into the pixels themselves. A point is a few of these, so this takes some
// milliseconds wherever the page is shown, where WebGL without a graphics card takes a hundred.

export const SIDE = 65_535;
const CELLS = 128;
const MOST_ZOOM = 400;
const MOST_RATIO = 2;
const MARGIN = 0.94;
const DIMMED = 0.3;

/** The points of a map on a canvas; `onView` is called after each drawing. */
export class Points {
  constructor(canvas, onView = () => {}) {
    this.canvas = canvas;
    this.onView = onView;
    this.context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    this.view = { x: 0.5, y: 0.5, zoom: 1 };
    this.count = 0;
    this.litOrder = [];
    this.asked = 0;
    this.sized = new ResizeObserver(() => this.resize());
    this.sized.observe(canvas);
    this.resize();
  }

  /** Take up points: `x` and `y` in 65,535ths, and a group for each. */
  set(x, y, groups) {
    this.count = x.length;
    this.x = x;
    this.y = y;
    this.groups = groups;
    this.lit = new Uint8Array(this.count);
    this.litOrder = [];
    this.index();
    this.draw();
  }

  /** Other groups for the same points. */
  regroup(groups) {
    this.groups = groups;
    this.draw();
  }

  /** Colours as [red, green, blue]: of each group (null hides it), of rings, of the ground. */
  paint(colours, ring, ground) {
    this.colours = colours;
    this.ring = ring;
    this.ground = ground;
    this.draw();
  }

  /** Light some points up by their numbers, best first; the others step back. */
  light(numbers) {
    this.lit.fill(0);
    for (const number of numbers) this.lit[number] = 1;
    this.litOrder = [...numbers].reverse();
    this.draw();
  }

  resize() {
    this.ratio = Math.min(MOST_RATIO, devicePixelRatio || 1);
    this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * this.ratio));
    this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * this.ratio));
    this.image = this.context.createImageData(this.canvas.width, this.canvas.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.render();
  }

  /** Pixels (CSS) that the whole map is wide. */
  get side() {
    return Math.min(this.canvas.clientWidth, this.canvas.clientHeight) * MARGIN * this.view.zoom;
  }

  /** Where on the canvas a point is, in CSS pixels. */
  placeOf(number) {
    return this.toCanvas(this.x[number] / SIDE, this.y[number] / SIDE);
  }

  toCanvas(x, y) {
    return [(x - this.view.x) * this.side + this.canvas.clientWidth / 2, (y - this.view.y) * this.side + this.canvas.clientHeight / 2];
  }

  toMap(left, top) {
    return [(left - this.canvas.clientWidth / 2) / this.side + this.view.x, (top - this.canvas.clientHeight / 2) / this.side + this.view.y];
  }

  /** Move by CSS pixels. */
  pan(right, down) {
    this.look({ x: this.view.x - right / this.side, y: this.view.y - down / this.side });
  }

  /** Zoom in by a factor around a place on the canvas. */
  zoom(factor, left = this.canvas.clientWidth / 2, top = this.canvas.clientHeight / 2) {
    const [x, y] = this.toMap(left, top);
    const zoom = Math.max(0.7, Math.min(MOST_ZOOM, this.view.zoom * factor));
    const kept = this.view.zoom / zoom;
    this.look({ x: x + (this.view.x - x) * kept, y: y + (this.view.y - y) * kept, zoom });
  }

  /** Look at some points, or everything. */
  fit(numbers = null) {
    if (!numbers?.length) {
      this.look({ x: 0.5, y: 0.5, zoom: 1 });
      return;
    }
    let [left, right, top, bottom] = [1, 0, 1, 0];
    for (const number of numbers) {
      left = Math.min(left, this.x[number] / SIDE);
      right = Math.max(right, this.x[number] / SIDE);
      top = Math.min(top, this.y[number] / SIDE);
      bottom = Math.max(bottom, this.y[number] / SIDE);
    }
    const wide = Math.max(right - left, bottom - top, 0.02);
    this.look({ x: (left + right) / 2, y: (top + bottom) / 2, zoom: Math.min(40, 0.8 / wide) });
  }

  look(view) {
    Object.assign(this.view, view);
    this.view.x = Math.max(-0.2, Math.min(1.2, this.view.x));
    this.view.y = Math.max(-0.2, Math.min(1.2, this.view.y));
    this.draw();
  }

  /** Draw with the next frame. */
  draw() {
    if (!this.asked) {
      this.asked = requestAnimationFrame(() => {
        this.asked = 0;
        this.render();
      });
    }
  }

  render() {
    if (!this.ground) return;
    this.pixels.fill(packed(this.ground));
    this.splat();
    this.context.putImageData(this.image, 0, 0);
    for (const number of this.litOrder) this.drawLit(number);
    this.onView();
  }

  /** Blend every point that is seen into the pixels, red and blue in one go. */
  splat() {
    const { pixels, x, y, groups, lit, count } = this;
    const { width, height } = this.canvas;
    const dot = discOf(this.dotPx * this.ratio, width, this.litOrder.length ? DIMMED : 0.8);
    const scale = (this.side * this.ratio) / SIDE;
    const left = width / 2 - this.view.x * this.side * this.ratio;
    const top = height / 2 - this.view.y * this.side * this.ratio;
    const [right, bottom] = [width - dot.reach, height - dot.reach];
    const colours = this.colours.map((colour) => (colour ? packed(colour) : 0));
    for (let at = 0; at < count; at++) {
      const column = (x[at] * scale + left) | 0;
      const row = (y[at] * scale + top) | 0;
      if (column < dot.reach || column >= right || row < dot.reach || row >= bottom || lit[at]) continue;
      const colour = colours[groups[at]];
      if (!colour) continue;
      const redBlue = colour & 0xff00ff;
      const green = colour & 0x00ff00;
      const middle = row * width + column;
      for (let part = 0; part < dot.places.length; part++) {
        const place = middle + dot.places[part];
        const alpha = dot.alphas[part];
        const under = pixels[place];
        const underRedBlue = under & 0xff00ff;
        const underGreen = under & 0x00ff00;
        pixels[place] =
          0xff000000 |
          ((underRedBlue + (((redBlue - underRedBlue) * alpha) >> 8)) & 0xff00ff) |
          ((underGreen + (((green - underGreen) * alpha) >> 8)) & 0x00ff00);
      }
    }
  }

  drawLit(number) {
    const [left, top] = this.placeOf(number);
    const { context, ratio } = this;
    context.beginPath();
    context.arc(left * ratio, top * ratio, (this.dotPx * 0.8 + 2.2) * ratio, 0, 2 * Math.PI);
    context.fillStyle = `rgb(${this.colours[this.groups[number]] ?? this.ring})`;
    context.fill();
    context.lineWidth = 1.5 * ratio;
    context.strokeStyle = `rgb(${this.ring})`;
    context.stroke();
  }

  /** The width of a point: less where there are many, more when one looks closely. */
  get dotPx() {
    const few = Math.max(2.2, 7 - Math.log10(Math.max(10, this.count)));
    return Math.min(11, few * this.view.zoom ** 0.3);
  }

  /** The number of the nearest point within so many pixels; -1 if there is none. Lit ones first. */
  nearest(left, top, withinPx = 10) {
    if (!this.count) return -1;
    const [x, y] = this.toMap(left, top);
    const reach = withinPx / this.side;
    const cell = (value) => Math.max(0, Math.min(CELLS - 1, Math.floor(value * CELLS)));
    let best = -1;
    let bestAway = reach * reach;
    for (let row = cell(y - reach); row <= cell(y + reach); row++) {
      for (let column = cell(x - reach); column <= cell(x + reach); column++) {
        const from = this.starts[row * CELLS + column];
        const to = this.starts[row * CELLS + column + 1];
        for (let place = from; place < to; place++) {
          const number = this.members[place];
          if (this.colours && !this.colours[this.groups[number]] && !this.lit[number]) continue;
          const away = (this.x[number] / SIDE - x) ** 2 + (this.y[number] / SIDE - y) ** 2;
          const weighed = this.lit[number] ? away / 4 : away;
          if (weighed < bestAway) [best, bestAway] = [number, weighed];
        }
      }
    }
    return best;
  }

  /** Points by the cell of a grid that they are in. */
  index() {
    const cells = new Uint16Array(this.count);
    this.starts = new Uint32Array(CELLS * CELLS + 1);
    for (let at = 0; at < this.count; at++) {
      cells[at] = ((this.y[at] * CELLS) >> 16) * CELLS + ((this.x[at] * CELLS) >> 16);
      this.starts[cells[at] + 1]++;
    }
    for (let cell = 0; cell < CELLS * CELLS; cell++) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice();
    this.members = new Uint32Array(this.count);
    for (let at = 0; at < this.count; at++) this.members[next[cells[at]]++] = at;
  }

  /** Let go of the canvas. */
  end() {
    this.sized.disconnect();
    cancelAnimationFrame(this.asked);
  }
}

/** A colour as the pixel that it is, opaque. */
function packed([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** The pixels of a disc around its middle, each with how much of it is covered, of 256. */
function discOf(widePx, rowLength, opacity) {
  const radius = widePx / 2;
  const reach = Math.ceil(radius) + 1;
  const places = [];
  const alphas = [];
  for (let row = -reach; row <= reach; row++) {
    for (let column = -reach; column <= reach; column++) {
      const covered = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(column, row)));
      if (covered < 0.06) continue;
      places.push(row * rowLength + column);
      alphas.push(Math.round(256 * covered * opacity));
    }
  }
  return { places: Int32Array.from(places), alphas: Int32Array.from(alphas), reach };
}
