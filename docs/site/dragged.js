// Below a picture of the site: one of its numbers to drag, and what the emulated device would count.

import {dragged, drawRequests} from "../stills/requests.js";

function addDragged(still, name) {
  const {parameters, first} = dragged[name];
  const values = {...first};
  const box = Object.assign(document.createElement("div"), {className: "dragged"});
  box.innerHTML = "<output></output>" + Object.keys(parameters)
    .map((key) => `<label>Drag the ${key}: <input type="range" min="0" name="${key}"><b></b></label>`).join("") +
    "<img width=\"440\" alt=\"The lanes of each warp, or the banks, at these numbers\">";
  const image = box.querySelector("img");
  const draw = () => {
    for (const [key, allowed] of Object.entries(parameters)) {
      const all = allowed(values);
      const input = box.querySelector(`[name=${key}]`);
      if (!all.includes(values[key])) values[key] = all.at(-1);
      input.max = all.length - 1;
      input.value = all.indexOf(values[key]);
      input.setAttribute("aria-valuetext", values[key]);
      input.nextElementSibling.textContent = values[key];
    }
    const {svg, text} = drawRequests(name, values);
    box.querySelector("output").textContent = text;
    // As an image, it follows the page's scheme as the stills do.
    image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  };
  box.addEventListener("input", ({target}) => {
    values[target.name] = parameters[target.name](values)[target.value];
    draw();
  });
  draw();
  // Room for the highest, so that nothing jumps below it.
  const every = ([key, ...keys], values) => key === undefined ? [values] :
    parameters[key](values).flatMap((value) => every(keys, {...values, [key]: value}));
  const heights = every(Object.keys(parameters).reverse(), first)
    .map((each) => Number(/ height="(\d+)"/.exec(drawRequests(name, each).svg)[1]));
  image.style.aspectRatio = `440 / ${Math.max(...heights)}`;
  // Below the picture's caption, if it has one.
  const place = still.closest("p, .image") ?? still;
  const next = place.nextElementSibling;
  (next?.firstChild?.nodeName === "EM" ? next : place).after(box);
}

for (const still of document.querySelectorAll("img")) {
  const [, name] = /([^/]*)\.svg$/.exec(still.getAttribute("src")) ?? [];
  if (Object.hasOwn(dragged, name)) addDragged(still, name);
}
