// Runs before the first paint, so that a chosen theme or language never flashes.
try {
  const chosen = JSON.parse(localStorage.getItem("lancebrain") || "{}");
  if (chosen.theme) document.documentElement.dataset.theme = chosen.theme;
  if (chosen.language) document.documentElement.lang = chosen.language;
} catch {
  // Storage is switched off: the system decides.
}
