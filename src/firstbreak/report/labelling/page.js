"use strict";
(() => {
  const main = document.querySelector("main");
  const cards = [...document.querySelectorAll("article")];
  const name = document.getElementById("name");
  const state = document.getElementById("state");
  const store = "firstbreak-labels-" + main.dataset.mark;
  const labels = new Map();
  let here = 0;

  const keep = () => {
    try {
      localStorage.setItem(store, JSON.stringify({ name: name.value, labels: [...labels] }));
    } catch (error) { /* a browser that keeps nothing: the file is still saved */ }
  };
  const recall = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(store) || "{}");
      if (typeof kept.name === "string") name.value = kept.name;
      for (const [content, entry] of kept.labels || []) {
        if (cards.some((card) => card.dataset.content === content)) labels.set(content, entry);
      }
    } catch (error) { /* nothing to recall */ }
  };
  const paint = () => {
    cards.forEach((card, place) => {
      const entry = labels.get(card.dataset.content);
      card.classList.toggle("done", entry !== undefined);
      card.classList.toggle("here", place === here);
      for (const button of card.querySelectorAll("button[data-score]")) {
        button.setAttribute("aria-pressed", String(entry !== undefined && Number(button.dataset.score) === entry.score));
      }
    });
    state.textContent = labels.size + " of " + cards.length + " labelled";
  };
  const go = (place) => {
    here = Math.max(0, Math.min(cards.length - 1, place));
    paint();
    if (cards[here]) {
      cards[here].focus({ preventScroll: true });
      cards[here].scrollIntoView({ block: "start" });
    }
  };
  const label = (place, score) => {
    labels.set(cards[place].dataset.content, { score: score, time: new Date().toISOString().slice(0, 19) + "+00:00" });
    keep();
    go(place + 1);
  };
  const save = () => {
    const who = (name.value.trim() || "anonymous").slice(0, 64);
    const lines = cards.filter((card) => labels.has(card.dataset.content)).map((card) => {
      const entry = labels.get(card.dataset.content);
      const line = { content: card.dataset.content, score: entry.score, labeller: who, time: entry.time };
      if (card.dataset.drawn) line.drawn = true;
      if (card.dataset.also) line.also = card.dataset.also.split(" ");
      return JSON.stringify(line);
    });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "application/x-ndjson" }));
    link.download = "labels-" + (who.replace(/[^A-Za-z0-9_-]+/g, "-") || "anonymous") + ".jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  cards.forEach((card, place) => {
    for (const button of card.querySelectorAll("button[data-score]")) {
      button.addEventListener("click", () => label(place, Number(button.dataset.score)));
    }
  });
  document.getElementById("save").addEventListener("click", save);
  name.addEventListener("change", keep);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === name) return;
    const choices = cards[here] ? cards[here].querySelectorAll("button[data-score]") : [];
    const number = Number(event.key);
    if (event.key >= "1" && event.key <= "9" && choices[number - 1]) label(here, Number(choices[number - 1].dataset.score));
    else if (event.key === "ArrowRight") go(here + 1);
    else if (event.key === "ArrowLeft") go(here - 1);
    else return;
    event.preventDefault();
  });
  recall();
  paint();
})();
