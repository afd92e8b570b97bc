// A hundred thousand points on a canvas, by WebGL: panned, zoomed, pointed at, some of them lit.

const VERTEX = `#version 300 es
in vec2 place;
in uint group;
in uint lit;
uniform vec2 centre;
uniform vec2 scale;
uniform float size;
uniform float dimmed;
uniform vec4 colours[16];
out vec4 colour;
out float radius;
void main() {
  vec4 own = colours[group];
  float shown = own.a;
  gl_Position = vec4((place - centre) * scale, 0.0, 1.0);
  radius = lit == 1u ? size * 1.6 + 4.0 : size;
  gl_PointSize = shown > 0.0 || lit == 1u ? radius + 1.0 : 0.0;
  colour = lit == 1u ? vec4(own.rgb, 1.0) : vec4(own.rgb, shown * dimmed);
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 colour;
in float radius;
uniform vec4 ring;
uniform bool isRinged;
out vec4 shown;
void main() {
  float away = length(gl_PointCoord - 0.5) * (radius + 1.0);
  float alpha = colour.a * clamp(radius * 0.5 + 0.5 - away, 0.0, 1.0);
  vec3 own = colour.rgb;
  if (isRinged) own = mix(own, ring.rgb, smoothstep(radius * 0.5 - 1.9, radius * 0.5 - 0.9, away));
  shown = vec4(own * alpha, alpha);
}`;
const CELLS = 128;
export const SIDE = 65_535;
const MOST_ZOOM = 400;
const MARGIN = 0.94;

/** The points of a map on a canvas.
 *  @throws where the browser has no WebGL 2 */
export class Points {
  constructor(canvas, onView = () => {}) {
    this.canvas = canvas;
    this.onView = onView;
    this.view = { x: 0.5, y: 0.5, zoom: 1 };
    this.count = 0;
    this.hasLit = false;
    this.asked = 0;
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true, powerPreference: "high-performance" });
    if (!gl) throw new Error("no WebGL 2");
    this.gl = gl;
    this.prepare();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      if (this.count) this.upload();
      this.draw();
    });
    this.sized = new ResizeObserver(() => this.resize());
    this.sized.observe(canvas);
  }

  prepare() {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    ["place", "group", "lit"].forEach((name, at) => gl.bindAttribLocation(program, at, name));
    gl.linkProgram(program);
    gl.useProgram(program);
    this.at = Object.fromEntries(["centre", "scale", "size", "dimmed", "colours", "ring", "isRinged"].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = { place: gl.createBuffer(), group: gl.createBuffer(), lit: gl.createBuffer(), order: gl.createBuffer() };
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (this.colours) gl.uniform4fv(this.at.colours, this.colours);
  }

  /** Take up points: `x` and `y` in 65,535ths, and a group below 16 for each. */
  set(x, y, groups) {
    this.count = x.length;
    this.x = x;
    this.y = y;
    this.groups = groups;
    this.lit = new Uint8Array(this.count);
    this.litOrder = new Uint32Array(0);
    this.hasLit = false;
    this.index();
    this.upload();
    this.draw();
  }

  upload() {
    const gl = this.gl;
    const places = new Uint16Array(this.count * 2);
    for (let at = 0; at < this.count; at++) {
      places[2 * at] = this.x[at];
      places[2 * at + 1] = SIDE - this.y[at];
    }
    this.attribute("place", 0, places, (place) => gl.vertexAttribPointer(place, 2, gl.UNSIGNED_SHORT, true, 0, 0));
    this.attribute("group", 1, this.groups, (place) => gl.vertexAttribIPointer(place, 1, gl.UNSIGNED_BYTE, 0, 0));
    this.attribute("lit", 2, this.lit, (place) => gl.vertexAttribIPointer(place, 1, gl.UNSIGNED_BYTE, 0, 0));
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.order);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, this.litOrder, gl.STATIC_DRAW);
  }

  attribute(name, place, data, point) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    point(place);
  }

  /** Other groups for the same points. */
  regroup(groups) {
    this.groups = groups;
    if (this.count) this.upload();
    this.draw();
  }

  /** Colours of the groups, as [red, green, blue, alpha] from 0 to 1; alpha 0 hides a group. */
  paint(colours, ring) {
    this.colours = new Float32Array(64);
    colours.forEach((colour, group) => this.colours.set(colour, 4 * group));
    this.ring = ring;
    this.gl.uniform4fv(this.at.colours, this.colours);
    this.draw();
  }

  /** Light some points up by their numbers, best first; the others step back. */
  light(numbers) {
    this.lit.fill(0);
    for (const number of numbers) this.lit[number] = 1;
    this.litOrder = Uint32Array.from([...numbers].reverse());
    this.hasLit = numbers.length > 0;
    if (this.count) this.upload();
    this.draw();
  }

  resize() {
    const ratio = Math.min(2, devicePixelRatio || 1);
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
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
    const { gl, at, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (this.count && this.ring && canvas.clientWidth) {
      gl.uniform2f(at.centre, this.view.x, 1 - this.view.y);
      gl.uniform2f(at.scale, (2 * this.side) / canvas.clientWidth, (2 * this.side) / canvas.clientHeight);
      gl.uniform1f(at.size, this.dotPx * this.ratio);
      gl.uniform4fv(at.ring, this.ring);
      gl.uniform1f(at.dimmed, this.hasLit ? 0.28 : 1);
      gl.uniform1i(at.isRinged, 0);
      gl.drawArrays(gl.POINTS, 0, this.count);
      if (this.hasLit) {
        gl.uniform1i(at.isRinged, 1);
        gl.drawElements(gl.POINTS, this.litOrder.length, gl.UNSIGNED_INT, 0);
      }
    }
    this.onView();
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
          if (this.colours && !this.colours[4 * this.groups[number] + 3] && !this.lit[number]) continue;
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
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
