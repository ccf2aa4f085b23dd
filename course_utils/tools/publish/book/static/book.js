// The attention views: each frame gets the two libraries that the page holds once (see course_utils/tools/publish/book.py).
const libraries = document.getElementById("view-libraries");
for (const frame of document.querySelectorAll("iframe[data-view]")) {
  frame.srcdoc = frame.dataset.view.replace("<!--libraries-->", () => libraries.innerHTML);
}

// On paper, quizzes and solutions stand open, and the page is light.
let theme;
addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach(box => { box.open = true; });
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => { document.documentElement.dataset.theme = theme; });
