// While a person presses something, the page stays as it is: a click counts only where the press and its release meet
// the same node, and what is drawn again is another node.

/** Where the release goes elsewhere (another window, the browser's own list of a select), drawing goes on after this. */
const LONGEST_MS = 2000;
/** The click of a finger comes a little after its release. */
const CLICK_MS = 50;

let timer = null;
let later = [];

function holdFor(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(release, milliseconds);
}

function release() {
  timer = null;
  const due = later;
  later = [];
  for (const work of due) work();
}

/** Does `work` now, or once nothing is pressed any more. */
export function whenReleased(work) {
  if (timer === null) work();
  else later.push(work);
}

const soon = () => timer !== null && holdFor(CLICK_MS);
// The space bar presses a button, too; in a box it is a letter.
const presses = (event) => event.key === " " && !event.repeat && !event.target.closest?.("input, textarea");

addEventListener("pointerdown", () => holdFor(LONGEST_MS), true);
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, soon, true);
addEventListener("keydown", (event) => presses(event) && holdFor(LONGEST_MS), true);
addEventListener("keyup", (event) => event.key === " " && soon(), true);
