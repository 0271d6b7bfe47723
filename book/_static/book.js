// What the theme's scripts leave to do. Loaded after them, when the page has been read.

// The theme takes the focus away from a button that was pressed; the keyboard needs it there.
let byKeyboard = false;
addEventListener("click", (event) => { byKeyboard = event.detail === 0; }, true);
for (const button of document.querySelectorAll("button")) {
  button.blur = () => byKeyboard || HTMLElement.prototype.blur.call(button);
}

// So does copying, which works by way of another field.
addEventListener("click", (event) => {
  const button = event.target.closest(".copybtn");
  if (button) setTimeout(() => button.focus({preventScroll: true}));
});

// On a small screen the contents of a page lie over it: having shown the way, they step aside.
addEventListener("click", (event) => {
  const link = event.target.closest("#pst-secondary-sidebar-modal a[href^='#']");
  const heading = link && document.getElementById(decodeURIComponent(link.hash.slice(1)))
    ?.querySelector("h1, h2, h3");
  if (!heading) return;
  const dialog = document.getElementById("pst-secondary-sidebar-modal");
  dialog.addEventListener("close", () => {
    heading.tabIndex = -1;
    heading.focus({preventScroll: true});
    heading.scrollIntoView();
  }, {once: true});
  dialog.close();
});

// After a search, the page opens where the first word that was found stands. Sphinx marks the words
// a moment after the page has been read.
addEventListener("load", () => setTimeout(() => {
  const found = [...document.querySelectorAll("article .highlighted")];
  if (!location.hash) found.find((word) => word.checkVisibility())?.scrollIntoView({block: "center"});
}, 100));

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
