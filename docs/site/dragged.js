// Below a picture of the site: one of its numbers to drag, and what the emulated device would count.

import {views} from "../../common/explorer/views.js";
import {dragged, requestsText, traceOfRequests} from "../stills/requests.js";

// As an image, it follows the page's scheme as the stills do.
const imageOf = (svg) => `data:image/svg+xml,${encodeURIComponent(svg)}`;

function addDragged(still, name) {
  const {parameters, first} = dragged[name];
  const values = {...first};
  const box = Object.assign(document.createElement("div"), {className: "dragged"});
  box.innerHTML = Object.keys(parameters)
    .map((key) => `<label>${key} <input type="range" min="0" name="${key}"></label>`).join("") +
    "<output></output><img alt=\"The banks, and the words asked of each\"><img alt=\"Which lanes of each warp ask\">";
  const [banks, lanes] = box.querySelectorAll("img");
  const draw = () => {
    for (const [key, allowed] of Object.entries(parameters)) {
      const all = allowed(values);
      const input = box.querySelector(`[name=${key}]`);
      if (!all.includes(values[key])) values[key] = all.at(-1);
      input.max = all.length - 1;
      input.value = all.indexOf(values[key]);
      input.setAttribute("aria-valuetext", values[key]);
    }
    const trace = traceOfRequests(name, values);
    const [{words, wavefronts}] = trace.events;
    const large = {still: true, font: 15.5};
    box.querySelector("output").textContent = requestsText(trace, values);
    lanes.src = imageOf(views.lanes(trace, 0, large));
    banks.src = imageOf(views.banks(trace, 0, {...large, columns: words.length > 8 * wavefronts ? 8 : 16}));
  };
  box.addEventListener("input", ({target}) => {
    values[target.name] = parameters[target.name](values)[target.value];
    draw();
  });
  draw();
  // Below the picture's caption, if it has one.
  const place = still.closest("p, .image") ?? still;
  const next = place.nextElementSibling;
  (next?.firstChild?.nodeName === "EM" ? next : place).after(box);
}

for (const still of document.querySelectorAll("img")) {
  const [, name] = /([^/]*)\.svg$/.exec(still.getAttribute("src")) ?? [];
  if (Object.hasOwn(dragged, name)) addDragged(still, name);
}
