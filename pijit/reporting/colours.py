"""Colour schemes of reports, light and dark, as style sheets that those of other pages cannot override.

A report follows the theme of the notebook that holds it, if the notebook declares one; otherwise the reader's preferred
scheme. Printed reports are light.
"""

from __future__ import annotations

from typing import Dict, Sequence

LIGHT = {"back": "#ffffff", "text": "#1f2933", "soft": "#52606d", "note": "#8a4b08", "kernel": "#e3f4e8",
         "kernel-edge": "#1f8a4c", "mixed": "#f4f0d8", "byte": "#fdf1dc", "byte-edge": "#b7791f", "end": "#eef1f5",
         "end-edge": "#7b8794", "control": "#3e4c59", "data": "#2563c9"}
DARK = {"back": "#14181d", "text": "#e4e7eb", "soft": "#9fb0c0", "note": "#f0bd6c", "kernel": "#14351f",
        "kernel-edge": "#4cc27c", "mixed": "#35321a", "byte": "#3a2c12", "byte-edge": "#e0a94a", "end": "#222a33",
        "end-edge": "#7b8794", "control": "#b8c4d0", "data": "#7fb0ff"}

DARK_HOSTS = ('[data-jp-theme-light="false"]', ".vscode-dark", ".vscode-high-contrast", '[data-theme="dark"]')
"""Ancestor elements that mark a page as dark: of JupyterLab and nbconvert, VS Code, and Sphinx themes."""
LIGHT_HOSTS = ('[data-jp-theme-light="true"]', ".vscode-light", ".vscode-high-contrast-light", '[data-theme="light"]')

MONOSPACE = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def schemes(selector: str) -> str:
    """The rules that define the variables `--pj-NAME` for an element.

    Args:
        selector: one class of the element, such as ".pj".

    Returns:
        A style sheet.
    """
    light, dark = _variables("light", LIGHT), _variables("dark", DARK)
    return "\n".join((
        "{} {{{}}}".format(selector, light),
        "@media (prefers-color-scheme: dark) {{ {} {{{}}} }}".format(selector, dark),
        "{} {{{}}}".format(_within(DARK_HOSTS, selector), dark),
        "{} {{{}}}".format(_within(LIGHT_HOSTS, selector), light),
        "@media print {{ {} {{{}}} }}".format(selector, firm(light)))) + "\n"


def firm(rules: str) -> str:
    """Rules that other pages cannot override; each declaration must end with a semicolon."""
    return rules.replace(";", " !important;")


def _variables(scheme: str, colours: Dict[str, str]) -> str:
    return " color-scheme: {}; {} ".format(
        scheme, " ".join("--pj-{}: {};".format(name, colour) for name, colour in colours.items()))


def _within(hosts: Sequence[str], selector: str) -> str:
    return ", ".join("{} {}".format(host, selector) for host in hosts)
