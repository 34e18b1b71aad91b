// Shows what the file selector says. Everything is set as text, never as HTML.
const selector = document.querySelector("file-selector");
const choice = document.getElementById("choice");
const record = document.getElementById("record");

function show(text, file) {
  choice.textContent = text;
  record.textContent = file ? JSON.stringify(file, null, 2) : "";
  record.hidden = !file;
}

selector.addEventListener("continue", ({ detail }) => show(`Chosen: ${detail.displayName} (${detail.id})`, detail.file));
selector.addEventListener("close", () => show("Closed without a choice."));
