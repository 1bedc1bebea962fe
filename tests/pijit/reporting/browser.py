"""Measures pages in a browser without a window, where one is installed."""

import json
import re
import shutil
import subprocess

import pytest

BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome", "chrome"])), None)

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no browser is installed")

MEASURE = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">%s<pre id="out"></pre><script>
window.onload = function () {
  var measure = %s, frames = Array.from(document.querySelectorAll("iframe"));
  document.getElementById("out").textContent = JSON.stringify(frames.map(function (frame) {
    return measure(frame.contentDocument, frame.contentWindow); })); };</script>"""

FRAME = '<iframe src="%s" style="display:block;width:%dpx;height:3000px;border:0"></iframe>'


def measured(folder, pages, script, scheme="light"):
    """What a script says of pages; skips the test where the browser does not run.

    Args:
        folder: where the pages are, and where files may be written.
        pages: (file name, width in pixels) of each page.
        script: a JavaScript function of a document and its window.
        scheme: the scheme that the reader prefers: light or dark.

    Returns:
        A list of what the function returned for each page.
    """
    (folder / "measure.html").write_text(MEASURE % ("".join(FRAME % page for page in pages), script))
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
               "--user-data-dir={}".format(folder / "profile"),
               "--blink-settings=preferredColorScheme={}".format(["dark", "light"].index(scheme)),
               "--virtual-time-budget=2000", "--dump-dom", (folder / "measure.html").as_uri()]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    except subprocess.TimeoutExpired:
        pytest.skip("the browser does not come to an end here")
    found = re.search(r'<pre id="out">(\[.*?\])</pre>', done.stdout.decode("utf-8"), re.DOTALL)
    if found is None:
        pytest.skip("the browser does not run here")
    return json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
