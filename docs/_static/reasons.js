/* A filter box on the page of reasons: only sections with all of its words are shown. The address keeps the words:
   reasons.html?filter=generator+function. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";
  var reasons = Array.from(document.querySelectorAll("section")).filter(function (section) {
    return /^PJ\d\d\d$/.test(section.id);
  });
  var groups = Array.from(new Set(reasons.map(function (section) { return section.parentElement; })));
  var texts = reasons.map(function (section) { return section.textContent.toLowerCase(); });

  var box = document.createElement("input");
  box.type = "search";
  box.id = "reasons-filter";
  box.placeholder = "Filter, such as PJ201 or dtype";
  box.setAttribute("aria-label", "Filter reasons");
  var count = document.createElement("p");
  count.id = "reasons-count";
  count.setAttribute("role", "status");
  groups[0].before(box, count);

  function filter() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    reasons.forEach(function (section, k) {
      section.hidden = !words.every(function (word) { return texts[k].includes(word); });
      shown += section.hidden ? 0 : 1;
    });
    groups.forEach(function (group) {
      group.hidden = !group.querySelector("section:not([hidden])");
    });
    count.textContent = shown + " of " + reasons.length + " reasons";
  }

  box.addEventListener("input", function () {
    filter();
    var address = new URL(location.href);
    if (box.value) { address.searchParams.set("filter", box.value); } else { address.searchParams.delete("filter"); }
    try { history.replaceState(null, "", address); } catch (error) { /* a page from a file may not do this */ }
  });
  box.value = new URL(location.href).searchParams.get("filter") || "";
  filter();
});
