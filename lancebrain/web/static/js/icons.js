// Drawings of 20 by 20, in lines of the text's colour.

import { s } from "./dom.js";

const PATHS = {
  search: ["M8.7 3.2a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Z", "m12.8 12.8 4 4"],
  timeline: ["M10 3v14", "M10 6h6", "M10 11H5", "M10 15h4", "M10 6h.01", "M10 11h.01"],
  map: ["M5 5.5h.01", "M9 3.8h.01", "M14.5 6h.01", "M6.5 10h.01", "M11 9h.01", "M15.5 12h.01", "M8.5 14.5h.01", "M12.5 15.8h.01", "M4 15h.01"],
  health: ["M2.5 10.5h3.2L8 5l4 10 2.2-4.5h3.3"],
  settings: ["M3 6h8", "M15 6h2", "M13 4v4", "M3 14h2", "M9 14h8", "M7 12v4"],
  close: ["m5 5 10 10", "M15 5 5 15"],
  back: ["m12 4-6 6 6 6"],
  forward: ["m8 4 6 6-6 6"],
  filter: ["M3 5h14", "M6 10h8", "M8.5 15h3"],
  editor: ["M11.5 4H5a1.5 1.5 0 0 0-1.5 1.5v9A1.5 1.5 0 0 0 5 16h9a1.5 1.5 0 0 0 1.5-1.5V9", "m8.5 11.5.6-2.4L15 3.2 16.8 5l-5.9 5.9Z"],
  copy: ["M7 7h9v9H7Z", "M13 7V4H4v9h3"],
  clock: ["M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14Z", "M10 6v4l2.5 2"],
  flag: ["M5 17V3.5h9l-2 3 2 3H5"],
  warning: ["M10 3.5 17 16H3Z", "M10 8v3.5", "M10 13.8h.01"],
  pause: ["M7.5 5v10", "M12.5 5v10"],
  plus: ["M10 4.5v11", "M4.5 10h11"],
  minus: ["M4.5 10h11"],
  fit: ["M4 8V4h4", "M16 8V4h-4", "M4 12v4h4", "M16 12v4h-4"],
  check: ["m4.5 10.5 4 4 7-9"],
  refresh: ["M15.5 8A6 6 0 1 0 16 11", "M16 4v4h-4"],
  undo: ["M4 8h8a4 4 0 0 1 0 8H8", "M7 5 4 8l3 3"],
  link: ["M8.5 11.5a3 3 0 0 0 4.3 0l2.5-2.5a3 3 0 0 0-4.3-4.3l-1 1", "M11.5 8.5a3 3 0 0 0-4.3 0L4.7 11A3 3 0 0 0 9 15.3l1-1"],
};

/** A drawing that only adorns: what it means stands beside it or in a label. */
export function icon(name) {
  return s(
    "svg",
    { class: "icon", viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true", focusable: "false" },
    PATHS[name].map((d) => s("path", { d })),
  );
}
