// SPDX-License-Identifier: Apache-2.0
// Light or dark as the system is set. Debian's furo has the colours and lacks the media query that chooses them.
document.addEventListener("DOMContentLoaded", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const choose = () => { document.body.dataset.theme = dark.matches ? "dark" : "light"; };
  choose();
  dark.addEventListener("change", choose);
});
