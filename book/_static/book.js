// What the theme's scripts leave to do. Loaded after them, when the page has been read.

// The theme takes the focus away from a button that was pressed; the keyboard needs it there.
let byKeyboard = false;
addEventListener("click", (event) => { byKeyboard = event.detail === 0; }, true);
for (const button of document.querySelectorAll("button")) {
  button.blur = () => byKeyboard || HTMLElement.prototype.blur.call(button);
}

// Excerpts of the pages found are fetched, which a browser refuses from disk.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// Paper is white, shows everything unfolded, and no figure on it waits for the reader to come near.
let before = {};
addEventListener("beforeprint", () => {
  const folded = [...document.querySelectorAll("details:not([open])")];
  before = {folded, theme: document.documentElement.dataset.theme};
  document.documentElement.dataset.theme = "light";
  for (const details of folded) details.open = true;
  for (const image of document.images) image.loading = "eager";
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = before.theme;
  for (const details of before.folded) details.open = false;
});
